//! Selects the social-media pages and further domains in the evaluation set that belong to exactly
//! one company.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use enrich_text::{Domain, Network};
use percent_encoding::percent_decode_str;
use serde::Deserialize;

use super::forms::is_channel_id;

/// A row of the evaluation set's file `social`.
#[derive(Clone, Deserialize)]
pub(crate) struct PageRow {
    pub(crate) platform: String,
    pub(crate) handle: String,
    pub(crate) reg_domain: String,
    pub(crate) name: String,
}

/// A row of the evaluation set's file `domain_aliases`.
#[derive(Clone, Deserialize)]
pub(crate) struct AliasRow {
    pub(crate) alias_domain: String,
    pub(crate) main_domain: String,
    pub(crate) name: String,
}

/// A company's social-media page, with the main domain of the company.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HeldPage {
    pub(crate) network: Network,
    pub(crate) handle: String,
    pub(crate) domain: String,
    pub(crate) name: String,
}

/// A further domain of a company, with the main domain of the company.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FurtherDomain {
    pub(crate) text: String,
    pub(crate) domain: String,
    pub(crate) name: String,
}

/// The selected values, and the number of values that are left out because they do not belong to
/// exactly one company.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Chosen<T> {
    pub(crate) all: Vec<T>,
    pub(crate) ambiguous: usize,
}

/// Returns a domain in the form that answers have. An invalid domain is returned unchanged.
pub(crate) fn normal(domain: &str) -> String {
    Domain::parse(domain).map_or_else(|_| domain.to_owned(), |read| read.as_str().to_owned())
}

/// Returns the pages in `rows` that are in a known social network and belong to exactly one
/// company. `held` has the pages of the imported catalogue: network, handle, and the company's main
/// domain. A page that belongs to one company in `rows` and to another in `held` is left out.
///
/// Handles are names of pages. Two handles count as the same page if `same` returns the same text
/// for both. Look-ups have a rule of their own for equal handles. It is not used here, because the
/// evaluation must find the errors of this rule: if the rule wrongly treats two handles as equal,
/// both pages are still selected, and their look-ups show the error.
pub(crate) fn pages(rows: &[PageRow], held: &[(Network, &str, &str)]) -> Chosen<HeldPage> {
    let mut owners: HashMap<(Network, String), BTreeSet<String>> = HashMap::new();
    for (network, handle, domain) in held {
        owners.entry((*network, same(*network, handle))).or_default().insert(normal(domain));
    }
    let mut pages = BTreeMap::new();
    for row in rows {
        let Some(network) = network_of(&row.platform) else { continue };
        let handle = row.handle.trim().trim_end_matches('/');
        let (key, domain) = ((network, same(network, handle)), normal(&row.reg_domain));
        owners.entry(key.clone()).or_default().insert(domain.clone());
        let page = HeldPage { network, handle: handle.to_owned(), domain, name: row.name.clone() };
        pages.entry(key).or_insert(page);
    }
    let count = pages.len();
    let is_of_one = |key: &(Network, String)| owners.get(key).is_some_and(|of| of.len() == 1);
    let all: Vec<HeldPage> =
        pages.into_iter().filter(|(key, _)| is_of_one(key)).map(|(_, page)| page).collect();
    Chosen { ambiguous: count - all.len(), all }
}

/// Returns the further domains that belong to exactly one company and are not the main domain of
/// any company. `main` contains the main domains of the imported companies.
pub(crate) fn further_domains(rows: &[AliasRow], main: &HashSet<String>) -> Chosen<FurtherDomain> {
    let mut owners: HashMap<String, BTreeSet<String>> = HashMap::new();
    let mut mains: HashSet<String> = main.clone();
    let mut further = BTreeMap::new();
    for row in rows {
        let (alias, domain) = (normal(&row.alias_domain), normal(&row.main_domain));
        mains.insert(domain.clone());
        owners.entry(alias.clone()).or_default().insert(domain.clone());
        let text = row.alias_domain.clone();
        further.entry(alias).or_insert(FurtherDomain { text, domain, name: row.name.clone() });
    }
    let count = further.len();
    let is_of_one = |alias: &String| {
        !mains.contains(alias) && owners.get(alias).is_some_and(|of| of.len() == 1)
    };
    let all: Vec<FurtherDomain> =
        further.into_iter().filter(|(alias, _)| is_of_one(alias)).map(|(_, one)| one).collect();
    Chosen { ambiguous: count - all.len(), all }
}

fn network_of(platform: &str) -> Option<Network> {
    Network::ALL.into_iter().find(|network| network.as_str() == platform)
}

/// Normalises a handle, so that all ways to write it give the same text: removes the rest of a URL,
/// decodes percent-encoding, and converts to lower case. YouTube's channel ids keep their case.
/// `given` is a handle, or the URL of a LinkedIn page:
/// `https://www.linkedin.com/company/Quill/about` gives `quill`.
fn same(network: Network, given: &str) -> String {
    let behind = ["/company/", "/school/", "/showcase/"]
        .into_iter()
        .find_map(|kind| given.split_once(kind).map(|(_, behind)| behind));
    let handle = behind.unwrap_or(given).split(['/', '?', '#']).next().unwrap_or(given);
    let handle = percent_decode_str(handle).decode_utf8_lossy();
    if network == Network::Youtube && is_channel_id(&handle) {
        handle.into_owned()
    } else {
        handle.to_lowercase()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page_row(platform: &str, handle: &str, domain: &str) -> PageRow {
        PageRow {
            platform: platform.to_owned(),
            handle: handle.to_owned(),
            reg_domain: domain.to_owned(),
            name: "Quill".to_owned(),
        }
    }

    fn alias(alias: &str, main: &str) -> AliasRow {
        AliasRow {
            alias_domain: alias.to_owned(),
            main_domain: main.to_owned(),
            name: "Quill".to_owned(),
        }
    }

    #[test]
    fn a_handle_of_two_companies_is_left_out() {
        let rows = [
            page_row("twitter", "Quill", "quill.example"),
            page_row("twitter", "quill", "other.example"),
            page_row("facebook", "quill", "quill.example"),
            page_row("facebook", "Quill/", "quill.example"),
            page_row("linkedin", "quill", "quill.example"),
            page_row("tiktok", "quill", "quill.example"),
        ];
        let third = "https://www.linkedin.com/company/QUILL/admin/";
        let chosen = pages(&rows, &[(Network::LinkedIn, third, "third.example")]);
        assert_eq!(chosen.ambiguous, 2);
        let left: Vec<(Network, &str)> =
            chosen.all.iter().map(|page| (page.network, page.handle.as_str())).collect();
        assert_eq!(left, [(Network::Facebook, "quill")]);
    }

    #[test]
    fn a_page_that_the_same_company_holds_stays() {
        let rows = [page_row("linkedin", "quill", "www.Quill.example")];
        let chosen = pages(&rows, &[(Network::LinkedIn, "quill", "quill.example")]);
        assert_eq!(chosen.ambiguous, 0);
        assert_eq!(chosen.all[0].domain, "quill.example");
    }

    #[test]
    fn channels_are_told_apart_by_case() {
        let rows = [
            page_row("youtube", "UCabcdefghijklmnopqrstuv", "quill.example"),
            page_row("youtube", "UCABCDEFGHIJKLMNOPQRSTUV", "other.example"),
        ];
        assert_eq!(pages(&rows, &[]).all.len(), 2);
    }

    #[test]
    fn a_main_domain_is_nobodys_further_one() {
        let main = HashSet::from(["held.example".to_owned()]);
        let rows = [
            alias("quill-press.example", "quill.example"),
            alias("held.example", "quill.example"),
            alias("quill.example", "other.example"),
            alias("shared.example", "quill.example"),
            alias("SHARED.example", "other.example"),
        ];
        let chosen = further_domains(&rows, &main);
        assert_eq!(chosen.ambiguous, 3);
        assert_eq!(chosen.all.len(), 1);
        assert_eq!(chosen.all[0].text, "quill-press.example");
    }
}
