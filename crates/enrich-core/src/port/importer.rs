//! Imports records into the directory (the look-up data).

use async_trait::async_trait;
use enrich_text::{Domain, EmailAddress, PersonPage, Phone};
use jiff::Timestamp;

use crate::port::error::StoreError;
use crate::record::{Record, SourceName};

/// The options of one import of records from one source.
#[derive(Clone, Debug)]
pub struct ImportOptions {
    /// The source from which the records come.
    pub source: SourceName,
    /// The path of the file that contains the records, or of the folder with such files. The path
    /// is stored with the source, in the transaction that imports the first record. With `None`,
    /// the path of an earlier import stays stored.
    pub file: Option<String>,
    /// The terms of the records. They are stored with the source, in the transaction that imports
    /// the first record. With `None`, the terms of an earlier import stay stored.
    pub terms: Option<SourceTerms>,
    /// The time of the import. It is stored with every imported value.
    pub at: Timestamp,
    /// Whether the whole import is one transaction.
    pub atomic: Atomic,
    /// Whether the import may add companies and people, or only change stored ones.
    pub new_subjects: NewSubjects,
}

impl ImportOptions {
    /// Creates the options of an import without a file and without terms (licence). The import
    /// is one transaction, and may change and add subjects. Returns `None` if `source` is not a
    /// valid name ([`SourceName::new`]).
    pub fn new(source: &str, at: Timestamp) -> Option<Self> {
        let source = SourceName::new(source)?;
        let (atomic, new_subjects) = (Atomic::Whole, NewSubjects::Add);
        Some(Self { source, file: None, terms: None, at, atomic, new_subjects })
    }
}

/// The terms under which the publisher of a source gives its records. A field is empty if its
/// text is not known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceTerms {
    /// The licence, such as `CC0-1.0`.
    pub licence: String,
    /// The text that users of the data must publish according to the licence.
    pub attribution: String,
    /// The address of the web page on which the data is published.
    pub homepage: String,
}

/// How much of an import is one transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Atomic {
    /// The store chooses when it commits. The outcomes of [`ImportSession::import_batch`] are final
    /// only after [`ImportSession::finish`]; an error may undo several earlier batches.
    InParts,
    /// One transaction for the whole import.
    Whole,
}

/// What an import does with companies and people that are not stored yet. It always changes stored
/// ones, and always imports facts of domains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NewSubjects {
    /// The import adds companies and people that are not stored yet.
    Add,
    /// The import skips companies and people that are not stored yet. The effect of a record that
    /// describes one of these is [`Effect::NotHeld`].
    Skip,
}

/// The result of importing one record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImportOutcome {
    /// The effect of the record.
    pub effect: Effect,
    /// The number of values that were left out of the record because they are suppressed: they must
    /// not be imported.
    pub suppressed_values: u32,
}

/// The effect of an imported record on the directory (the look-up data).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The company, person or domain of the record was not stored yet, and was added.
    Added,
    /// The record was merged into a stored company, person or domain, and changed it.
    Merged,
    /// Nothing was changed, because all values of the record were already stored.
    Unchanged,
    /// The record was not imported, because the company, person or domain that it describes is
    /// suppressed: it must not be stored.
    Suppressed,
    /// The record was not imported, because its company or person is not stored, and the import
    /// adds none ([`NewSubjects::Skip`]).
    NotHeld,
}

/// A value that must not be imported and that no answer may contain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Suppressed {
    /// An email address of a person or a company.
    Email(EmailAddress),
    /// A phone number of a person or a company.
    Phone(Phone),
    /// The LinkedIn page of a person. This suppresses all data of the person.
    PersonPage(PersonPage),
    /// A domain, all hosts below it (`shop.quill.example` is below `quill.example`), and all
    /// email addresses at the domain and these hosts.
    Domain(Domain),
}

/// A named source, such as a file, whose records were imported.
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
    /// The terms of the source's records; the texts are empty if no terms are known.
    pub terms: SourceTerms,
}

/// How much was removed, because a source was removed or because values were suppressed (they must
/// not be stored any more).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Removed {
    /// The number of removed values.
    pub values: u64,
    /// The number of companies, people and domains that were removed because too few values were
    /// left, for example no name.
    pub subjects: u64,
}

/// Imports records into the directory (the look-up data), and removes sources and suppressed values
/// from it.
#[async_trait]
pub trait Importer: Send + Sync {
    /// Begins an import. Only one import runs at a time. Depending on the store, a second import
    /// waits or fails.
    async fn begin(&self, options: ImportOptions) -> Result<Box<dyn ImportSession>, StoreError>;

    /// Returns a value by which an import recognises the records of a source that are already
    /// imported. The import can then skip these records without parsing them. Returns `None` if no
    /// record of the source was imported, or if this importer cannot recognise unparsed records.
    async fn known_records(
        &self,
        _source: &SourceName,
    ) -> Result<Option<Box<dyn KnownRecords>>, StoreError> {
        Ok(None)
    }

    /// Returns all sources, sorted by name.
    async fn sources(&self) -> Result<Vec<SourceInfo>, StoreError>;

    /// Returns the stored file name of a source: the name from the last [`ImportOptions`] that had
    /// one. Returns `None` if the source does not exist, or has no stored file name.
    async fn source_file(&self, name: &SourceName) -> Result<Option<String>, StoreError>;

    /// Removes all values of a source. Returns `None` if the source does not exist.
    async fn remove_source(&self, name: &SourceName) -> Result<Option<Removed>, StoreError>;

    /// Suppresses values: removes them from the look-up data, and makes later imports leave them
    /// out. If the call fails, none of the values is suppressed.
    async fn forget(&self, what: &[Suppressed], at: Timestamp) -> Result<Removed, StoreError>;
}

/// A running import. If it is dropped without [`finish`](Self::finish), it is incomplete. With
/// [`Atomic::Whole`], none of its records is stored then. With [`Atomic::InParts`], the batches
/// that the store has already committed stay stored.
#[async_trait]
pub trait ImportSession: Send {
    /// Imports a batch of records. Returns one [`ImportOutcome`] for each record, in the order of
    /// the records. An empty batch only updates the time of the source's last import, if the source
    /// exists.
    async fn import_batch(
        &mut self,
        records: Vec<Record>,
    ) -> Result<Vec<ImportOutcome>, StoreError>;

    /// Sets the number of records that will probably follow the next batch. The number is an
    /// estimate. A store can use it to choose how many records it commits together. The default
    /// implementation ignores it.
    fn expect(&mut self, _records: u64) {}

    /// Ends the import and makes all imported records durable.
    async fn finish(self: Box<Self>) -> Result<(), StoreError>;
}

/// Recognises records whose import would change nothing. An import can skip these records without
/// parsing them.
pub trait KnownRecords: Send {
    /// Returns one element for each content hash ([`Origin::content`](crate::Origin)): `true` if
    /// the import of the record with this hash would certainly change nothing, otherwise `false`.
    /// The call may block the thread.
    fn are_known(&mut self, contents: &[[u8; 16]]) -> Vec<bool>;
}
