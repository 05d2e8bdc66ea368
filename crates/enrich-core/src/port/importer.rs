//! Imports records into the directory.

use async_trait::async_trait;
use enrich_text::{Domain, EmailAddress, PersonPage, Phone};
use jiff::Timestamp;

use crate::port::error::StoreError;
use crate::record::{Record, SourceName};

/// The parameters of an import.
#[derive(Clone, Debug)]
pub struct Load {
    /// The source of the records.
    pub source: SourceName,
    /// The file that contains the records. It is stored with the source, in the transaction of the
    /// first record. `None` leaves an earlier stored file unchanged.
    pub file: Option<String>,
    /// The time stored with every value.
    pub at: Timestamp,
    /// Whether each batch, or the whole import, is one transaction.
    pub atomic: Atomic,
}

impl Load {
    /// Creates the parameters of an import in one transaction, without a file. `None` if `source`
    /// is not a valid name ([`SourceName::new`]).
    pub fn new(source: &str, at: Timestamp) -> Option<Self> {
        let source = SourceName::new(source)?;
        Some(Self { source, file: None, at, atomic: Atomic::Whole })
    }
}

/// Which part of an import is one transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Atomic {
    /// One transaction for each batch.
    Batch,
    /// One transaction for the whole import.
    Whole,
}

/// The result of importing one record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImportOutcome {
    /// The effect of the record.
    pub effect: Effect,
    /// The number of values left out because they are suppressed.
    pub suppressed_values: u32,
}

/// The effect of a record on the directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// A subject was added.
    Added,
    /// An existing subject changed.
    Merged,
    /// Nothing changed; all values were known.
    Unchanged,
    /// The record was left out because its subject is suppressed.
    Suppressed,
}

/// A value that is kept out of imports and answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Suppressed {
    /// An email address, of people and companies.
    Email(EmailAddress),
    /// A phone number, of people and companies.
    Phone(Phone),
    /// The page of a person. The whole person is forgotten.
    PersonPage(PersonPage),
    /// A domain, the hosts below it and the email addresses there.
    Domain(Domain),
}

/// An imported source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceInfo {
    /// The source's name.
    pub name: SourceName,
    /// The number of values stored from the source.
    pub values: u64,
    /// The number of records imported from the source.
    pub records: u64,
    /// Time of the first import.
    pub first_at: Timestamp,
    /// Time of the last import.
    pub last_at: Timestamp,
}

/// The result of removing a source or suppressing values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Removed {
    /// The number of removed values.
    pub values: u64,
    /// The number of subjects removed because they have no value left.
    pub subjects: u64,
}

/// Imports records.
#[async_trait]
pub trait Importer: Send + Sync {
    /// Begins an import. Only one import runs at a time; a second one waits or is refused.
    async fn begin(&self, load: Load) -> Result<Box<dyn Loading>, StoreError>;

    /// All sources, sorted by name.
    async fn sources(&self) -> Result<Vec<SourceInfo>, StoreError>;

    /// The file stored with a source by its last [`Load`] with a file; `None` if the source does
    /// not exist or has no file.
    async fn source_file(&self, name: &SourceName) -> Result<Option<String>, StoreError>;

    /// Removes all values of a source; `None` if the source does not exist.
    async fn remove_source(&self, name: &SourceName) -> Result<Option<Removed>, StoreError>;

    /// Suppresses values: removes them from the directory and keeps them out of later imports. On
    /// an error, no value is suppressed.
    async fn forget(&self, what: &[Suppressed], at: Timestamp) -> Result<Removed, StoreError>;
}

/// A running import. If it is dropped before [`finish`](Self::finish), records that are not yet
/// written are lost.
#[async_trait]
pub trait Loading: Send {
    /// Imports a batch. Returns one [`ImportOutcome`] for each record, in order.
    async fn take(&mut self, records: Vec<Record>) -> Result<Vec<ImportOutcome>, StoreError>;

    /// Ends the import and makes all imported records durable.
    async fn finish(self: Box<Self>) -> Result<(), StoreError>;
}
