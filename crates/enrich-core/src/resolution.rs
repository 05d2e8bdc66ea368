//! Entity resolution: decides which records describe the same company.
//!
//! [`clusters`] takes the records of a neighbourhood, and returns which of them are one company. A
//! neighbourhood is all records that are connected, directly or through other records, by a common
//! name, domain, page (such as on LinkedIn), phone number or id. Records of different
//! neighbourhoods never influence each other, so each neighbourhood is decided alone.
//!
//! The result depends only on the set of records. It does not depend on their order, on the time
//! of their import, or on the company to which each record was added when it was imported.
//!
//! [`clusters`] works in three steps. At the beginning, each record is a cluster of its own.
//!
//! 1. It unites the records that an operator has declared to be one company ([`Decisions`]).
//! 2. Each pair of records that may describe one company becomes a link. The links are followed
//!    in the order of their strength ([`Strength`]). Each link unites the clusters of its two
//!    records, unless these clusters have different ids of one scheme (such as two LEIs), or a
//!    decision keeps them apart.
//! 3. A cluster that has neither a domain nor a page is united with the cluster that has the same
//!    name, if there is exactly one such cluster.

mod claims;
mod clusters;
mod decisions;
mod links;
mod resemblance;
mod units;

pub use claims::{RecordClaims, RecordKey};
pub use clusters::clusters;
pub use decisions::{DecidedRecord, Decision, DecisionKind, Decisions};
pub use links::{MAX_BEARERS, SharedKeys, Strength, is_linkable_by_name, is_shared, may_link};
pub use resemblance::{Alike, Resemblance, WhyApart};
pub use units::{is_unit_of, parent_among};

#[cfg(test)]
mod test_records;
#[cfg(test)]
mod tests;
