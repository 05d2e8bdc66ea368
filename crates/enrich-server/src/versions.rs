//! The versions of the interface that are served.

use enrich_wire::ApiVersion;

/// Every version, the first one first. Its form is also used for errors outside all versions.
pub static API_VERSIONS: [&ApiVersion; 2] =
    [&enrich_wire_v1::API_VERSION, &enrich_wire_v2::API_VERSION];

/// The paths of all endpoints.
pub(crate) fn endpoint_paths() -> impl Iterator<Item = &'static str> {
    API_VERSIONS.iter().flat_map(|version| version.endpoints).map(|endpoint| endpoint.path)
}

/// The version in whose form errors at `path` are written.
pub(crate) fn api_version_of(path: &str) -> &'static ApiVersion {
    let of_path = API_VERSIONS.iter().find(|version| path.starts_with(version.prefix));
    of_path.copied().unwrap_or(API_VERSIONS[0])
}
