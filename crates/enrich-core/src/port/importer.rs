//! The way into the directory.

use async_trait::async_trait;
use enrich_text::{Domain, EmailAddress, PersonPage, Phone};
use jiff::Timestamp;

use crate::port::error::StoreError;
use crate::record::{Record, SourceName};

/// A load to begin.
#[derive(Clone, Debug)]
pub struct Load {
    /// Whose records they are.
    pub source: SourceName,
    /// The file that the records come from, noted with the source in the same transaction as the
    /// first of its records; `None` leaves what was noted before.
    pub file: Option<String>,
    /// The time kept with every value.
    pub at: Timestamp,
    /// What is atomic.
    pub atomic: Atomic,
}

impl Load {
    /// A load of records from no file, all written together. `None` when `source` is not the name
    /// of a source ([`SourceName::new`]).
    pub fn new(source: &str, at: Timestamp) -> Option<Self> {
        let source = SourceName::new(source)?;
        Some(Self { source, file: None, at, atomic: Atomic::Whole })
    }
}

/// What of a load is written together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Atomic {
    /// Each batch by itself.
    Batch,
    /// All of it, when it is finished.
    Whole,
}

/// What became of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    /// What it did.
    pub effect: Effect,
    /// How many of its values were left out because they are suppressed.
    pub suppressed_values: u32,
}

/// What a record did to the directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// A new subject.
    Added,
    /// A subject that was there is different now.
    Merged,
    /// Everything was known.
    Unchanged,
    /// Left out: who it is about is suppressed.
    Suppressed,
}

/// What is no longer to be imported or answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Suppressed {
    /// An address, of people and companies.
    Email(EmailAddress),
    /// A number, of people and companies.
    Phone(Phone),
    /// A person's page: the person is forgotten with it.
    PersonPage(PersonPage),
    /// A domain and the hosts below it, addresses there included.
    Domain(Domain),
}

/// A source that was imported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceInfo {
    /// Its name.
    pub name: SourceName,
    /// Values held from it.
    pub values: u64,
    /// Records taken from it.
    pub records: u64,
    /// When it was first imported.
    pub first_at: Timestamp,
    /// When it was last imported.
    pub last_at: Timestamp,
}

/// What taking a source, or a value, out again did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Removed {
    /// Values gone.
    pub values: u64,
    /// Subjects gone with their last value.
    pub subjects: u64,
}

/// Takes records in.
#[async_trait]
pub trait Importer: Send + Sync {
    /// Begins a load. One runs at a time; a second one waits or is refused.
    async fn begin(&self, load: Load) -> Result<Box<dyn Loading>, StoreError>;

    /// The sources there are, by name.
    async fn sources(&self) -> Result<Vec<SourceInfo>, StoreError>;

    /// The file that a source's records came from, as its last [`Load`] with a file noted it; `None`
    /// where there is no such source or no file was noted.
    async fn source_file(&self, name: &SourceName) -> Result<Option<String>, StoreError>;

    /// Takes a source's values out again; `None` when there is no such source.
    async fn remove_source(&self, name: &SourceName) -> Result<Option<Removed>, StoreError>;

    /// Suppresses values: what is held of them goes, and they are not taken in again. All of them
    /// are forgotten or, with an error, none.
    async fn forget(&self, what: &[Suppressed], at: Timestamp) -> Result<Removed, StoreError>;
}

/// A load that is running. Dropped unfinished, what is not yet written is not written.
#[async_trait]
pub trait Loading: Send {
    /// Takes a batch; one [`Taken`] a record, in order.
    async fn take(&mut self, records: Vec<Record>) -> Result<Vec<Taken>, StoreError>;

    /// Ends the load and makes what it brought durable.
    async fn finish(self: Box<Self>) -> Result<(), StoreError>;
}
