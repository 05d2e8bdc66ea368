//! The settings of commands that make look-ups in the data folder, without a server.

use std::num::NonZeroU64;

use clap::Args;

use super::MinConfidence;

// The options of commands that make look-ups in the data folder. (A doc comment here would become
// the help of each command.)
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct LookUpSettings {
    /// Least confidence of a match by the name of a company or a person, from 1 to 100
    #[arg(
        long,
        env = "ENRICH_MIN_CONFIDENCE",
        value_name = "PERCENT",
        default_value_t = MinConfidence::default()
    )]
    pub(crate) min_confidence: MinConfidence,
    /// Maximum number of email addresses, and of phone numbers, in an answer of
    /// /v1/company_enrichment or /v1/cone [default: all]
    #[arg(long, env = "ENRICH_MAX_ENRICHMENT_ITEMS", value_name = "ITEMS")]
    pub(crate) max_enrichment_items: Option<NonZeroU64>,
}
