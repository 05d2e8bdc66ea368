//! Entity resolution: decides which records describe the same company.
//!
//! [`clusters`] gets the records of a neighbourhood: records that are connected, directly or
//! through other records, by a common name, domain, page, phone number or id. It returns which of
//! them are one company. The result depends only on the set of records. It does not depend on their
//! order, on the time of their import, or on the companies to which an import first added them.
//! Records of different neighbourhoods never influence each other, so each neighbourhood is decided
//! alone.
//!
//! [`clusters`] first follows the decisions of an operator ([`Decisions`]).
//!
//! Then it unites further records in two steps. First, each pair of records that may describe one
//! company becomes a link. The links are followed in the order of their strength ([`Strength`]).
//! Each link unites the clusters of its two records, unless these clusters have different ids of
//! one scheme, or a decision keeps them apart. Second, a cluster that is known only by its name
//! joins another cluster that has this name, if there is exactly one such cluster.

mod claims;
mod clusters;
mod decisions;
mod links;
mod resemblance;
mod units;

pub use claims::{RecordClaims, RecordKey};
pub use clusters::clusters;
pub use decisions::{DecidedRecord, Decision, DecisionKind, Decisions};
pub use links::{MOST_BEARERS, SharedKeys, Strength, is_linkable_by_name, is_shared, may_link};
pub use resemblance::{Alike, Resemblance, WhyApart};
pub use units::{is_unit_of, parent_among};

#[cfg(test)]
mod test_records;
#[cfg(test)]
mod tests;
