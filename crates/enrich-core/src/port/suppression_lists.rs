//! Suppression lists: files with hashes of values that must not be imported, and that no answer may
//! contain.
//!
//! A list contains unkeyed hashes (digests) of the values, and not the values themselves. To find
//! out whether a value is on a list, the digest of the value is compared with the list. The store
//! saves keyed hashes of the digests, so that its file does not show whose values are on a list.

use async_trait::async_trait;
use jiff::Timestamp;

use crate::port::error::StoreError;
use crate::port::importer::Removed;

/// A kind of digest (hash) in a suppression list: from which value it is made, and with which hash
/// function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DigestKind {
    /// SHA-256 of an email address, in a list of California's deletion platform (DROP). The
    /// address is in lower case, without white space, but with its dots and its `+tag`.
    DropEmail,
    /// SHA-256 of the last ten digits of a phone number, in a list of California's deletion
    /// platform (DROP).
    DropPhone,
    /// MD5 of an email address in lower case.
    EmailMd5,
    /// SHA-1 of an email address in lower case.
    EmailSha1,
    /// SHA-256 of an email address in lower case.
    EmailSha256,
}

impl DigestKind {
    /// All kinds of digests.
    pub const ALL: [Self; 5] =
        [Self::DropEmail, Self::DropPhone, Self::EmailMd5, Self::EmailSha1, Self::EmailSha256];

    /// Returns the length of a digest of this kind, in bytes.
    pub fn bytes(self) -> usize {
        match self {
            Self::EmailMd5 => 16,
            Self::EmailSha1 => 20,
            Self::DropEmail | Self::DropPhone | Self::EmailSha256 => 32,
        }
    }

    /// Returns the name of the kind. Stores save this name, so it must never change.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::DropEmail => "drop email",
            Self::DropPhone => "drop phone",
            Self::EmailMd5 => "email md5",
            Self::EmailSha1 => "email sha1",
            Self::EmailSha256 => "email sha256",
        }
    }
}

/// A digest of a value, as a list contains it: 16, 20 or 32 bytes.
pub type Digest = Box<[u8]>;

/// A suppression list that is to be loaded: a file with hashes of values that must not be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewList {
    /// The name of the list's file.
    pub name: String,
    /// The kind of the digests. `None` if the list is about values that the look-up data never
    /// contains, such as vehicle identification numbers; then the digests are not compared.
    pub kind: Option<DigestKind>,
    /// A hash of the list's name and content. It shows whether the same list was loaded before.
    pub content: [u8; 32],
    /// The number of entries of the list. Each entry is a digest.
    pub entries: u64,
    /// The time at which the list is loaded.
    pub at: Timestamp,
}

/// The number by which the store identifies a suppression list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListNumber(pub u64);

/// Whether a suppression list (a file with hashes of values that must not be stored) is being
/// loaded, or was loaded completely.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenedList {
    /// The number of the list.
    pub number: ListNumber,
    /// Whether the list was already loaded to its end.
    pub is_complete: bool,
}

/// The numbers of suppression lists, of their entries, and of suppressed values (values that must
/// not be stored).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ListCounts {
    /// The number of lists that were loaded.
    pub lists: u64,
    /// The number of different digests in all loaded lists. Digests that are no longer in force
    /// ([`SuppressionLists::take_back`]) are not counted.
    pub entries: u64,
    /// The number of suppressed values, which must not be imported again. A value is suppressed by
    /// [`Importer::forget`](crate::port::importer::Importer::forget), or when it is removed because
    /// its digest is in a list.
    pub values: u64,
}

/// Loads suppression lists: files with hashes (digests) of values that must not be stored.
///
/// A load has these steps:
///
/// - [`open_list`](Self::open_list) for each list
/// - [`add`](Self::add) with the digests
/// - [`take_back`](Self::take_back) with the digests that are no longer in force
/// - [`remove_listed`](Self::remove_listed)
/// - [`complete`](Self::complete)
///
/// Each step may be repeated. So if a load is interrupted, it can be completed by the same steps
/// from the beginning.
#[async_trait]
pub trait SuppressionLists: Send + Sync {
    /// Starts the load of a suppression list, and returns its number. If a list with the same
    /// content was opened before, returns the number of that list.
    async fn open_list(&self, list: &NewList) -> Result<OpenedList, StoreError>;

    /// Finds the list with this hash ([`NewList::content`]); `None` if its load was never started.
    async fn find_list(&self, content: [u8; 32]) -> Result<Option<OpenedList>, StoreError>;

    /// Adds digests to a list. From now on, imports leave out all values that have one of these
    /// digests. Returns how many of the digests were in no list before.
    async fn add(
        &self,
        list: ListNumber,
        kind: DigestKind,
        digests: Vec<Digest>,
    ) -> Result<u64, StoreError>;

    /// Ends the effect of these digests in all lists. Returns how many of the digests were in
    /// force. Values with these digests may be imported again. Exceptions: a value that also has
    /// another listed digest, and a value that was suppressed by [`Importer::forget`].
    ///
    /// [`Importer::forget`]: crate::port::importer::Importer::forget
    async fn take_back(
        &self,
        kind: DigestKind,
        digests: Vec<Digest>,
        at: Timestamp,
    ) -> Result<u64, StoreError>;

    /// Removes from the look-up data the values whose digest is in a list and is of one of these
    /// kinds. Also suppresses these values ([`Importer::forget`]): they must not be imported again.
    ///
    /// [`Importer::forget`]: crate::port::importer::Importer::forget
    async fn remove_listed(
        &self,
        kinds: &[DigestKind],
        at: Timestamp,
    ) -> Result<Removed, StoreError>;

    /// Returns one element for each digest: `true` if a value with this digest was removed while
    /// `list` was loaded, otherwise `false`.
    async fn were_removed(
        &self,
        list: ListNumber,
        kind: DigestKind,
        digests: Vec<Digest>,
    ) -> Result<Vec<bool>, StoreError>;

    /// Marks these lists as completely loaded.
    async fn complete(&self, lists: &[ListNumber]) -> Result<(), StoreError>;

    /// Counts the loaded lists, their entries and the suppressed values.
    async fn counts(&self) -> Result<ListCounts, StoreError>;
}
