//! The API versions that the server serves.

use enrich_wire::ApiVersion;

/// All API versions, the oldest first. If a path belongs to no version, its errors have the format
/// of the oldest version.
pub static API_VERSIONS: [&ApiVersion; 2] =
    [&enrich_wire_v1::API_VERSION, &enrich_wire_v2::API_VERSION];

pub(crate) fn endpoint_paths() -> impl Iterator<Item = &'static str> {
    API_VERSIONS.iter().flat_map(|version| version.endpoints).map(|endpoint| endpoint.path)
}

/// Returns the API version to which `path` belongs, else the oldest version. Errors for this path
/// have the format of this version.
pub(crate) fn api_version_of(path: &str) -> &'static ApiVersion {
    let of_path = API_VERSIONS.iter().find(|version| path.starts_with(version.prefix));
    of_path.copied().unwrap_or(API_VERSIONS[0])
}
