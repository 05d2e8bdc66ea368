//! Prominence: a number that says how well known a company is. It is calculated from the page ranks
//! of its domains, the kinds of its ids, the number of countries for which it has a site, and the
//! number of social networks on which it has a page.

use std::collections::BTreeSet;

use enrich_text::{Domain, Network};

use crate::subject::Company;

/// Maximum number of domains of a company whose page ranks are read. The first domains are used.
const MAX_RANKED: usize = 4;
/// A page rank up to this value adds nothing to the prominence. Page ranks are from 0 to 10, on a
/// logarithmic scale. Lists of the most linked domains end at a page rank of about 3, so a domain
/// with 2 is hardly known.
const MIN_RANK: f64 = 2.0;
/// A page rank above this value is lowered to this value. Only the best-known companies reach it.
const BEST_RANK: f64 = 7.0;
/// The prominence that is added for a page rank of [`BEST_RANK`] or more. A page rank between
/// [`MIN_RANK`] and [`BEST_RANK`] adds a proportional part of this value. The sum of all additions
/// says how well known a company is, from 0 to 1.
const OF_RANK: f64 = 0.7;
/// What an entry in Wikidata adds to the prominence of a company (how well known it is, from 0 to
/// 1).
const OF_WIKIDATA: f64 = 0.1;
/// What each kind of id, except Wikidata, adds to the prominence of a company (how well known it
/// is, from 0 to 1). All ids from one register or data set, such as all LEIs, are one kind.
const OF_ID: f64 = 0.05;
/// Maximum number of kinds of ids (registers and data sets), besides Wikidata, that add prominence.
const MAX_IDS: usize = 2;
/// What is added to the prominence of a company (how well known it is, from 0 to 1) each time its
/// number of countries with a site doubles: once for two countries, twice for four, three times for
/// eight.
const OF_DOUBLED_COUNTRIES: f64 = 0.05;
/// What each social network with a page of the company adds to its prominence (how well known it
/// is, from 0 to 1). The first network adds nothing, because most companies have one page.
const OF_PAGE: f64 = 0.025;

/// How well known a company is, and the facts that show it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Prominence {
    /// The highest page rank of the company's domains, from 0 to 10; `None` if none is known.
    pub page_rank: Option<f64>,
    /// Whether the company has an entry in Wikidata.
    pub is_in_wikidata: bool,
    /// The number of registers and data sets, without Wikidata, in which the company has an id.
    pub kinds_of_ids: usize,
    /// The number of countries for which the company has a site. The country of a site comes from
    /// a record, or else from the top-level domain.
    pub countries: usize,
    /// The number of social networks on which the company has a page.
    pub networks: usize,
}

impl Prominence {
    /// Calculates the prominence of a company: how well known it is. `page_rank` returns the page
    /// rank of a domain.
    pub fn of(company: &Company, mut page_rank: impl FnMut(&str) -> Option<f64>) -> Self {
        let ranks = company.sites.iter().take(MAX_RANKED);
        let ranks = ranks.filter_map(|site| page_rank(&site.domain));
        let kinds: BTreeSet<&str> =
            company.ids.iter().filter_map(|id| Some(id.split_once(':')?.0)).collect();
        let networks: BTreeSet<Network> = company.pages.iter().map(|(on, _)| *on).collect();
        let countries = company.sites.iter().filter_map(|site| {
            site.country.or_else(|| Domain::parse(&site.domain).ok()?.country())
        });
        let countries: BTreeSet<_> = countries.collect();
        Self {
            page_rank: ranks.reduce(f64::max),
            is_in_wikidata: kinds.contains("wikidata"),
            kinds_of_ids: kinds.len() - usize::from(kinds.contains("wikidata")),
            countries: countries.len(),
            networks: networks.len(),
        }
    }

    /// Returns how well known the company is, as a number from 0 to 1. For example, it is 0 if only
    /// the company's names, one domain without a page rank, and one page on a social network are
    /// known.
    pub fn value(&self) -> f64 {
        let rank = self.page_rank.filter(|rank| rank.is_finite()).unwrap_or(0.0);
        let rank = ((rank - MIN_RANK) / (BEST_RANK - MIN_RANK)).clamp(0.0, 1.0);
        let ids = self.kinds_of_ids.min(MAX_IDS) as f64;
        let wikidata = if self.is_in_wikidata { OF_WIKIDATA } else { 0.0 };
        let countries = (self.countries.max(1) as f64).log2() * OF_DOUBLED_COUNTRIES;
        let pages = self.networks.saturating_sub(1) as f64 * OF_PAGE;
        (rank * OF_RANK + wikidata + ids * OF_ID + countries + pages).min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::subject::{Site, SubjectId};

    fn quill(domains: &[&str]) -> Company {
        let site = |domain: &&str| Site { domain: (*domain).to_owned(), country: None };
        let sites = domains.iter().map(site).collect();
        let pages = vec![(Network::LinkedIn, "linkedin.com/company/quill".to_owned())];
        Company { sites, pages, ..Company::named(SubjectId(1), "Quill".to_owned()) }
    }

    fn value(company: &Company, rank: Option<f64>) -> f64 {
        Prominence::of(company, |_| rank).value()
    }

    #[test]
    fn a_name_with_a_domain_and_a_page_is_not_prominent() {
        assert_eq!(value(&quill(&["quill.example"]), None), 0.0);
        assert_eq!(value(&quill(&["quill.de"]), Some(1.5)), 0.0);
    }

    #[test]
    fn each_kind_of_knowledge_adds_to_prominence() {
        let plain = quill(&["quill.example"]);
        let ids = |ids: &[&str]| {
            let ids = ids.iter().map(|id| (*id).to_owned()).collect();
            value(&Company { ids, ..plain.clone() }, None)
        };
        assert!(value(&plain, Some(6.0)) > value(&plain, Some(3.0)));
        assert!(value(&plain, Some(3.0)) > 0.0);
        assert!(ids(&["wikidata:Q42"]) > ids(&["ror:1"]) && ids(&["ror:1"]) > 0.0);
        assert_eq!(ids(&["ror:1", "ror:2"]), ids(&["ror:1"]));
        assert!(value(&quill(&["quill.de", "quill.fr"]), None) > 0.0);
        let twitter = (Network::Twitter, "twitter.com/quill".to_owned());
        let pages = [plain.pages.clone(), vec![twitter]].concat();
        assert!(value(&Company { pages, ..plain.clone() }, None) > 0.0);
        assert_eq!(value(&plain, Some(f64::NAN)), 0.0);
        assert!(value(&plain, Some(1e9)) <= 1.0);
    }
}
