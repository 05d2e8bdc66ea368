//! Paths: which row of which table, or which page, a request is for.

use enrich_openapi::SiteFile;
use enrich_wire::{ApiVersion, Endpoint};

use super::account;
use super::page::AdminPage;
use super::site;
use crate::interface::API_VERSIONS;

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
    Endpoint(&'static ApiVersion, &'static Endpoint),
    /// A page beside the interface.
    AdminPage(AdminPage),
    /// A file of the interface's document.
    File(&'static SiteFile),
    /// The account page, wherever on it.
    Account,
    /// The bare address.
    Root,
    /// Nothing; the generation says so in its form.
    Nothing(&'static ApiVersion),
}

/// What `path` leads to at a listener. Paths are compared byte by byte, and no escaped letter is
/// overlooked; an endpoint is found with a slash behind it too, since many clients put one there.
pub(super) fn find(serves: Serves, path: &str) -> Target {
    let api_version = api_version_of(path);
    let bare = path.strip_suffix('/').unwrap_or(path);
    let endpoint = (serves != Serves::Pages).then(|| api_version.endpoint(bare)).flatten();
    if let Some(endpoint) = endpoint {
        return Target::Endpoint(api_version, endpoint);
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
    let page = (serves != Serves::Endpoints).then(|| AdminPage::at(path)).flatten();
    page.map_or(Target::Nothing(api_version), Target::AdminPage)
}

/// The [labels](Target::label) of every endpoint.
pub(super) fn labels() -> impl Iterator<Item = &'static str> {
    API_VERSIONS.iter().flat_map(|api_version| api_version.endpoints).map(|endpoint| endpoint.path)
}

/// The generation whose form is spoken under `path`.
fn api_version_of(path: &str) -> &'static ApiVersion {
    let of_path = API_VERSIONS.iter().find(|api_version| path.starts_with(api_version.prefix));
    of_path.copied().unwrap_or(API_VERSIONS[0])
}

impl Target {
    /// The name by which it is counted and logged. What leads nowhere has one for all, so that
    /// callers cannot make up names.
    pub(super) fn label(self) -> &'static str {
        match self {
            Self::Endpoint(_, endpoint) => endpoint.path,
            Self::AdminPage(page) => page.path(),
            Self::File(file) => file.path,
            Self::Account => account::ROOT,
            Self::Root | Self::Nothing(_) => "other",
        }
    }

    /// The generation in whose form it is refused.
    pub(super) fn api_version(self) -> &'static ApiVersion {
        match self {
            Self::Endpoint(api_version, _) | Self::Nothing(api_version) => api_version,
            Self::AdminPage(_) | Self::File(_) | Self::Account | Self::Root => API_VERSIONS[0],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_both_tables_is_found_at_its_path() {
        for api_version in API_VERSIONS {
            for endpoint in api_version.endpoints {
                let target = find(Serves::Everything, endpoint.path);
                assert!(
                    matches!(target, Target::Endpoint(of, _) if of.number == api_version.number)
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
        for endpoint in API_VERSIONS.iter().flat_map(|api_version| api_version.endpoints) {
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
            assert_eq!(find(Serves::Everything, path).api_version().number, number, "{path}");
        }
    }

    #[test]
    fn a_listener_serves_its_own_side_alone() {
        assert!(matches!(find(Serves::Endpoints, "/metrics"), Target::Nothing(_)));
        assert!(matches!(find(Serves::Pages, "/v1/cuf"), Target::Nothing(_)));
        assert!(matches!(find(Serves::Pages, "/metrics"), Target::AdminPage(_)));
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
