//! Paths: which row of which table, or which page, a request is for.

use enrich_openapi::SiteFile;
use enrich_wire::{Endpoint, Generation};

use super::account;
use super::page::Page;
use super::site;
use crate::interface::GENERATIONS;

/// What a listener serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Serves {
    /// The endpoints with their document, and the pages beside them.
    Everything,
    /// The endpoints with their document alone: the pages have a listener of their own.
    Endpoints,
    /// The pages alone.
    Pages,
}

/// What a path leads to.
#[derive(Clone, Copy, Debug)]
pub(super) enum Target {
    /// An endpoint.
    Endpoint(&'static Generation, &'static Endpoint),
    /// A page beside the interface.
    Page(Page),
    /// A file of the interface's document.
    File(&'static SiteFile),
    /// The account page, wherever on it.
    Account,
    /// The bare address.
    Root,
    /// Nothing; the generation says so in its form.
    Nothing(&'static Generation),
}

/// What `path` leads to at a listener. Paths are compared byte by byte, and no escaped letter is
/// overlooked; an endpoint is found with a slash behind it too, since many clients put one there.
pub(super) fn find(serves: Serves, path: &str) -> Target {
    let generation = generation_of(path);
    let bare = path.strip_suffix('/').unwrap_or(path);
    let endpoint = (serves != Serves::Pages).then(|| generation.endpoint(bare)).flatten();
    if let Some(endpoint) = endpoint {
        return Target::Endpoint(generation, endpoint);
    }
    let file = (serves != Serves::Pages).then(|| site::at(path)).flatten();
    if let Some(file) = file {
        return Target::File(file);
    }
    match path {
        "/" if serves != Serves::Pages => return Target::Root,
        _ if serves != Serves::Pages && account::is_at(path) => return Target::Account,
        _ => {}
    }
    let page = (serves != Serves::Endpoints).then(|| Page::at(path)).flatten();
    page.map_or(Target::Nothing(generation), Target::Page)
}

/// The [labels](Target::label) of every endpoint.
pub(super) fn labels() -> impl Iterator<Item = &'static str> {
    GENERATIONS.iter().flat_map(|generation| generation.endpoints).map(|endpoint| endpoint.path)
}

/// The generation whose form is spoken under `path`.
fn generation_of(path: &str) -> &'static Generation {
    let of_path = GENERATIONS.iter().find(|generation| path.starts_with(generation.prefix));
    of_path.copied().unwrap_or(GENERATIONS[0])
}

impl Target {
    /// The name by which it is counted and logged. What leads nowhere has one for all, so that
    /// callers cannot make up names.
    pub(super) fn label(self) -> &'static str {
        match self {
            Self::Endpoint(_, endpoint) => endpoint.path,
            Self::Page(page) => page.path(),
            Self::File(file) => file.path,
            Self::Account => account::ROOT,
            Self::Root | Self::Nothing(_) => "other",
        }
    }

    /// The generation in whose form it is refused.
    pub(super) fn generation(self) -> &'static Generation {
        match self {
            Self::Endpoint(generation, _) | Self::Nothing(generation) => generation,
            Self::Page(_) | Self::File(_) | Self::Account | Self::Root => GENERATIONS[0],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_both_tables_is_found_at_its_path() {
        for generation in GENERATIONS {
            for endpoint in generation.endpoints {
                let target = find(Serves::Everything, endpoint.path);
                assert!(
                    matches!(target, Target::Endpoint(of, _) if of.number == generation.number)
                );
                assert_eq!(target.label(), endpoint.path);
            }
        }
    }

    #[test]
    fn a_path_is_matched_whole_and_as_it_is() {
        for path in ["/v1/cuf//", "/v1//cuf", "/V1/cuf", "/v1/%63uf", "/v1/cuf;a", "", "*", "//"] {
            assert!(matches!(find(Serves::Everything, path), Target::Nothing(_)), "{path}");
        }
    }

    #[test]
    fn every_endpoint_is_found_with_a_slash_behind_it() {
        for endpoint in GENERATIONS.iter().flat_map(|generation| generation.endpoints) {
            let path = format!("{}/", endpoint.path);
            let target = find(Serves::Everything, &path);
            assert!(
                matches!(target, Target::Endpoint(_, of) if of.path == endpoint.path),
                "{path}"
            );
            assert!(matches!(find(Serves::Pages, &path), Target::Nothing(_)), "{path}");
        }
    }

    #[test]
    fn the_document_is_found_with_a_slash_behind_it() {
        for path in ["/docs", "/docs/"] {
            assert!(
                matches!(find(Serves::Endpoints, path), Target::File(file) if file.path == "/docs")
            );
            assert!(matches!(find(Serves::Pages, path), Target::Nothing(_)), "{path}");
        }
        for path in ["/docs//", "/docs/begin.js/"] {
            assert!(matches!(find(Serves::Endpoints, path), Target::Nothing(_)), "{path}");
        }
    }

    #[test]
    fn what_leads_nowhere_is_refused_in_the_form_of_its_prefix() {
        for (path, number) in [("/v2/nothing", 2), ("/v2", 1), ("/v1/nothing", 1), ("/v22/x", 1)] {
            assert_eq!(find(Serves::Everything, path).generation().number, number, "{path}");
        }
    }

    #[test]
    fn a_listener_serves_its_own_side_alone() {
        assert!(matches!(find(Serves::Endpoints, "/metrics"), Target::Nothing(_)));
        assert!(matches!(find(Serves::Pages, "/v1/cuf"), Target::Nothing(_)));
        assert!(matches!(find(Serves::Pages, "/metrics"), Target::Page(_)));
        assert!(matches!(find(Serves::Endpoints, "/v1/cuf"), Target::Endpoint(..)));
    }

    #[test]
    fn the_account_page_is_beside_the_endpoints_and_begins_with_its_name() {
        for serves in [Serves::Everything, Serves::Endpoints] {
            for path in ["/account", "/account/", "/account/keys", "/account//"] {
                assert!(matches!(find(serves, path), Target::Account), "{path}");
            }
            assert!(matches!(find(serves, "/"), Target::Root));
        }
        for path in ["/account", "/account/keys", "/"] {
            assert!(matches!(find(Serves::Pages, path), Target::Nothing(_)), "{path}");
        }
        assert!(matches!(find(Serves::Everything, "/accounts"), Target::Nothing(_)));
    }
}
