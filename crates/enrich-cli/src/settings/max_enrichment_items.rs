//! The limit of lists in answers with one price, for commands that use the data folder.

use std::num::NonZeroU64;

use clap::Args;

// The setting for commands that look up in the data folder without a server. (A doc comment here
// would become the help of each.)
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct MaxEnrichmentItems {
    /// The most addresses, and the most numbers, in an answer of /v1/company_enrichment or /v1/cone
    /// [default: all]
    #[arg(long, env = "ENRICH_MAX_ENRICHMENT_ITEMS", value_name = "ITEMS")]
    pub(crate) max_enrichment_items: Option<NonZeroU64>,
}
