//! The interface that is served: its generations.

use enrich_wire::ApiVersion;

/// Every generation, the first one first; its form also says what is wrong outside all of them.
pub(crate) static API_VERSIONS: [&ApiVersion; 2] =
    [&enrich_wire_v1::API_VERSION, &enrich_wire_v2::API_VERSION];
