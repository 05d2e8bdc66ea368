//! Names that no company bears exactly: candidates are searched and judged.

use enrich_core::SubjectId;
use enrich_core::matching::{AskedName, Judged, Weights, judge};
use enrich_text::{CompanyName, Country};

use super::is_in;
use super::search::{Candidates, search};
use crate::directory::view::View;

/// The companies that a name may mean, the likeliest first. With a country, only those with a
/// domain of it.
pub(crate) fn judged(
    view: View<'_>,
    name: &CompanyName,
    country: Option<Country>,
) -> rusqlite::Result<Vec<Judged>> {
    let asked = AskedName::new(name);
    let Candidates { ids, rarity } = search(view, &asked)?;
    let mut companies = Vec::with_capacity(ids.len());
    for id in ids {
        let Some(company) = view.company(SubjectId(id))? else { continue };
        if is_in(&company, country) {
            companies.push(company);
        }
    }
    Ok(judge(&asked, companies, &rarity, Weights::trained()))
}
