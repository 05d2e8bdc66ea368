//! Looks up a name that no company has exactly: finds companies with similar names, and compares
//! them.

use enrich_core::SubjectId;
use enrich_core::matching::{AskedName, ScoredCandidate, Weights, judge};
use enrich_text::{CompanyName, Country};

use super::search::{Candidates, search};
use super::{is_bare, is_in};
use crate::directory::view::View;

/// Maximum number of companies that are compared with a requested name. If the request gives a
/// country, this is the maximum for companies in the country, and [`MAX_ABROAD`] is the maximum for
/// all other companies.
const MAX_COMPARED: usize = 20;
/// Maximum number of companies that are read if the request gives a country.
const MAX_READ_IN_COUNTRY: usize = 512;
/// Limit for the total length of all aliases that are compared, in bytes. When the aliases of the
/// companies that were read exceed this limit, no further company is read. Most companies have few
/// names, but some have thousands. 20 companies with 160 names each have about this much text.
const MAX_TEXT: usize = 128 * 1024;

/// Maximum number of companies outside the requested country that are compared.
const MAX_ABROAD: usize = 16;

/// Returns the companies that a name may mean, the likeliest first. If a country is given, returns
/// the companies with a domain for that country, and well-known companies of other countries.
pub(crate) fn judged(
    view: View<'_>,
    name: &CompanyName,
    country: Option<Country>,
) -> rusqlite::Result<Vec<ScoredCandidate>> {
    let asked = AskedName::of_country(name, country);
    let most = if country.is_some() { MAX_READ_IN_COUNTRY } else { MAX_COMPARED };
    let Candidates { ids, rarity } = search(view, &asked, most)?;
    let mut companies = Vec::with_capacity(ids.len());
    let (mut text, mut there, mut abroad) = (0, 0, 0);
    for id in ids {
        let Some(company) = view.company(SubjectId(id))? else { continue };
        if is_bare(&company) {
            continue;
        }
        let (count, most) = match is_in(&company, country) {
            true => (&mut there, MAX_COMPARED),
            false => (&mut abroad, MAX_ABROAD),
        };
        if *count < most {
            *count += 1;
            text += company.aliases.iter().map(String::len).sum::<usize>();
            companies.push(company);
        }
        if there == MAX_COMPARED || text > MAX_TEXT {
            break;
        }
    }
    let mut failed = None;
    let judged = judge(&asked, companies, &rarity, Weights::trained(), |domain| {
        view.page_rank(domain).unwrap_or_else(|error| {
            failed = Some(error);
            None
        })
    });
    failed.map_or(Ok(judged), Err)
}
