//! Entity resolution: decides which records describe the same company.
//!
//! [`clusters`] gets the records of a neighbourhood: records that share names, domains, pages,
//! phones or ids, in any way. It returns which of them are one company. The result depends only on
//! the set of records: not on their order, not on when they were imported, and not on the companies
//! to which they were imported first. Two records that have nothing in common never influence each
//! other, so a neighbourhood can be decided alone.
//!
//! It works in two steps. First, each pair of records that can describe one company is a link; links
//! are ordered by their strength ([`Strength`]), and each link unites two clusters, unless these have
//! different ids of one scheme. Then, clusters that are known by name only join the only company
//! that has this name.

mod claims;
mod clusters;
mod links;

pub use claims::{RecordClaims, RecordKey};
pub use clusters::clusters;
pub use links::{SharedKeys, Strength, may_link};

#[cfg(test)]
mod tests;
