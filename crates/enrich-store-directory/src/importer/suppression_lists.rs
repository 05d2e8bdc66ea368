//! Suppression lists: each is a list of hashes of email addresses or phone numbers that must be
//! forgotten. Their entries are added in batches. Then each email address and phone number in the
//! directory is compared with the entries: the digests (hashes) of the value are looked up among
//! the entries. If one of these digests is an entry, the value is forgotten.

use std::collections::HashSet;

use async_trait::async_trait;
use enrich_core::Timestamp;
use enrich_core::port::error::StoreError;
use enrich_core::port::importer::{Removed, Suppressed};
use enrich_core::port::suppression_lists::{
    Digest, DigestKind, ListCounts, ListNumber, NewList, OpenedList, SuppressionLists,
};
use enrich_store_sqlite::{self as sqlite, Column, Statements, run_on_new_thread, store_error};
use enrich_text::{EmailAddress, Phone};
use rusqlite::{Connection, Row, params};

use super::digests;
use super::removal::EMAIL_KINDS;
use super::session::Target;
use super::writer::Writer;
use super::{SqliteImporter, empty_the_log, turn};
use crate::directory::codes::{IdentifierKind, sql_id};

/// The number of stored values that one transaction compares with the suppression lists. This takes
/// about 0.1 seconds, during which other writers wait.
const PART: i64 = 20_000;

/// Size of the page cache while the entries of a suppression list are added: 64 MiB. SQLite takes a
/// negative number as a size in KiB.
const CACHE: i64 = -64 * 1024;

const PHONE_KINDS: [IdentifierKind; 2] =
    [IdentifierKind::CompanyPhone, IdentifierKind::PersonPhone];

#[async_trait]
impl SuppressionLists for SqliteImporter {
    async fn open_list(&self, list: &NewList) -> Result<OpenedList, StoreError> {
        if let Some(opened) = self.find_list(list.content).await? {
            return Ok(opened);
        }
        let list = list.clone();
        self.write(list.at, move |writer| writer.open_list(&list)).await
    }

    async fn find_list(&self, content: [u8; 32]) -> Result<Option<OpenedList>, StoreError> {
        let path = self.target.path.clone();
        let find = move || find_list(&sqlite::reader(&path)?, &content);
        run_on_new_thread(move || find().map_err(store_error)).await
    }

    async fn add(
        &self,
        list: ListNumber,
        kind: DigestKind,
        digests: Vec<Digest>,
    ) -> Result<u64, StoreError> {
        let target = self.target.clone();
        let add = move || {
            let connection = turn::connect(&target.path)?;
            connection.pragma_update(None, "synchronous", "FULL")?;
            connection.pragma_update(None, "cache_size", CACHE)?;
            turn::write(&connection, |transaction| {
                let mut writer = Writer::new(transaction, &target.secrets, Timestamp::UNIX_EPOCH)?;
                let added = writer.add_digests(list, kind, &digests)?;
                writer.finish()?;
                Ok(added)
            })
        };
        run_on_new_thread(move || add().map_err(store_error)).await
    }

    async fn take_back(
        &self,
        kind: DigestKind,
        digests: Vec<Digest>,
        at: Timestamp,
    ) -> Result<u64, StoreError> {
        self.write(at, move |writer| writer.take_back(kind, &digests)).await
    }

    async fn remove_listed(
        &self,
        kinds: &[DigestKind],
        at: Timestamp,
    ) -> Result<Removed, StoreError> {
        let (target, kinds) = (self.target.clone(), kinds.to_vec());
        run_on_new_thread(move || {
            let removed = remove_listed(&target, &kinds, at);
            target.index.clear();
            removed.map_err(store_error)
        })
        .await
    }

    async fn were_removed(
        &self,
        list: ListNumber,
        kind: DigestKind,
        digests: Vec<Digest>,
    ) -> Result<Vec<bool>, StoreError> {
        let (path, secrets) = (self.target.path.clone(), self.target.secrets.clone());
        run_on_new_thread(move || {
            let connection = sqlite::reader(&path).map_err(store_error)?;
            let is_removed = |digest: &Digest| {
                let matched = "SELECT 1 FROM list_match WHERE hash = ?1 AND list = ?2";
                for secret in secrets.newest_first() {
                    let hash = digests::hash_of_digest(secret, kind, digest);
                    if connection.has(matched, params![hash, sql_number(list)])? {
                        return Ok(true);
                    }
                }
                Ok(false)
            };
            digests.iter().map(is_removed).collect::<rusqlite::Result<_>>().map_err(store_error)
        })
        .await
    }

    async fn complete(&self, lists: &[ListNumber]) -> Result<(), StoreError> {
        let lists = lists.to_vec();
        self.write(Timestamp::UNIX_EPOCH, move |writer| {
            let complete = "UPDATE suppression_list SET complete = 1 WHERE id = ?1";
            lists
                .iter()
                .try_for_each(|list| writer.connection.run(complete, [sql_number(*list)]).map(drop))
        })
        .await
    }

    async fn counts(&self) -> Result<ListCounts, StoreError> {
        let path = self.target.path.clone();
        let count = move || {
            let connection = sqlite::reader(&path)?;
            let lists = "SELECT count(*) FROM suppression_list WHERE complete";
            let values = "SELECT count(*) FROM suppressed WHERE taken_back_at IS NULL";
            Ok(ListCounts {
                lists: connection.value(lists, [])?,
                entries: connection.value("SELECT count(*) FROM listed", [])?,
                values: connection.value(values, [])?,
            })
        };
        run_on_new_thread(move || count().map_err(store_error)).await
    }
}

/// Compares all stored values with the loaded suppression lists, and forgets the values that are on
/// a list. `kinds` are the kinds of digests in these lists.
fn remove_listed(
    target: &Target,
    kinds: &[DigestKind],
    at: Timestamp,
) -> rusqlite::Result<Removed> {
    let connection = turn::connect(&target.path)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    let (of_emails, of_phones): (Vec<_>, Vec<_>) =
        kinds.iter().copied().partition(|kind| digests::is_of_email(*kind));
    let emails = EMAIL_KINDS.map(|kind| (kind, &of_emails));
    let phones = PHONE_KINDS.map(|kind| (kind, &of_phones));
    let mut removed = Removed::default();
    for (identifier, kinds) in emails.into_iter().chain(phones) {
        let mut last = (!kinds.is_empty()).then(String::new);
        while let Some(after) = last {
            let part = turn::write(&connection, |transaction| {
                let mut writer = Writer::new(transaction, &target.secrets, at)?;
                let part = writer.forget_listed(identifier, kinds, &after)?;
                writer.finish()?;
                Ok(part)
            })?;
            removed.values += part.removed.values;
            removed.subjects += part.removed.subjects;
            last = part.last;
            turn::pause();
        }
    }
    empty_the_log(connection)?;
    Ok(removed)
}

/// The result of comparing a part of the stored values with the suppression lists.
struct Compared {
    removed: Removed,
    /// The last value that was compared. The next part begins after this value. `None` if all
    /// values have been compared.
    last: Option<String>,
}

impl Writer<'_> {
    fn open_list(&mut self, list: &NewList) -> rusqlite::Result<OpenedList> {
        self.connection.run(
            "INSERT INTO suppression_list (name, kind, content, entries, at, complete)
             VALUES (?1, ?2, ?3, ?4, ?5, 0) ON CONFLICT (content) DO NOTHING",
            params![
                list.name,
                list.kind.map(DigestKind::as_str),
                list.content,
                list.entries,
                Column(list.at)
            ],
        )?;
        find_list(self.connection, &list.content)?.ok_or(rusqlite::Error::QueryReturnedNoRows)
    }

    fn add_digests(
        &mut self,
        list: ListNumber,
        kind: DigestKind,
        digests: &[Digest],
    ) -> rusqlite::Result<u64> {
        let mut added = 0;
        let hash = |digest: &Digest| digests::hash_of_digest(self.secrets.current(), kind, digest);
        let mut hashes: Vec<[u8; 32]> = digests.iter().map(hash).collect();
        // The hashes are sorted, so that rows on the same page of the database file are written one
        // after the other.
        hashes.sort_unstable();
        for hash in hashes {
            let new = "INSERT INTO listed (hash, list) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
            if self.connection.run(new, params![hash, sql_number(list)])? == 1 {
                added += 1;
                continue;
            }
            let known = "UPDATE listed SET list = ?2 WHERE hash = ?1 AND list <> ?2";
            self.connection.run(known, params![hash, sql_number(list)])?;
        }
        Ok(added)
    }

    fn take_back(&mut self, kind: DigestKind, digests: &[Digest]) -> rusqlite::Result<u64> {
        let mut taken_back = 0;
        let mut subjects = HashSet::new();
        for digest in digests {
            for secret in self.secrets.newest_first() {
                let hash = digests::hash_of_digest(secret, kind, digest);
                if self.connection.run("DELETE FROM listed WHERE hash = ?1", [hash])? == 0 {
                    continue;
                }
                taken_back += 1;
                self.take_back_values(&hash)?;
                let matched = "SELECT subject FROM list_match WHERE hash = ?1";
                self.connection.each(matched, [hash], |row| {
                    subjects.insert(row.get(0)?);
                    Ok(())
                })?;
            }
        }
        // An import skips the records that it knows by their fingerprints (keyed hashes). Here the
        // fingerprints of all records of the affected companies and people are deleted. So the next
        // import reads such a record again, and the directory gets the value back.
        self.no_longer_remember(&subjects)?;
        Ok(taken_back)
    }

    /// Reads the next [`PART`] stored values of a kind, which follow the value `after` in
    /// alphabetical order. Compares them with the suppression lists. Forgets the values that are on
    /// a list.
    fn forget_listed(
        &mut self,
        identifier: IdentifierKind,
        kinds: &[DigestKind],
        after: &str,
    ) -> rusqlite::Result<Compared> {
        let held = "SELECT DISTINCT key FROM identifier WHERE kind = ?1 AND key > ?2
                    ORDER BY key LIMIT ?3";
        let held: Vec<String> =
            self.connection.list(held, params![identifier, after, PART], |row| row.get(0))?;
        let mut removed = Removed::default();
        for value in &held {
            // An older version of the program may have stored values that today's rules refuse.
            // Such a value cannot be parsed, so it is not compared with the lists.
            let found = match EMAIL_KINDS.contains(&identifier) {
                true => match EmailAddress::parse(value) {
                    Ok(email) => self.listed_email(&email, kinds)?,
                    Err(_) => None,
                },
                false => match Phone::parse(value) {
                    Ok(phone) => self.listed_phone(&phone, kinds)?,
                    Err(_) => None,
                },
            };
            let Some((entry, what)) = found else { continue };
            self.note_match(&entry, value)?;
            let of_value = self.forget_by_entry(&what, &entry)?;
            removed.values += of_value.values;
            removed.subjects += of_value.subjects;
        }
        let is_last = held.len() < usize::try_from(PART).unwrap_or(usize::MAX);
        Ok(Compared { removed, last: held.into_iter().next_back().filter(|_| !is_last) })
    }

    /// Searches the lists for an email address, and then for the address without its `+tag`.
    /// Returns the first entry that is found, and the address to which it belongs.
    pub(crate) fn listed_email(
        &self,
        email: &EmailAddress,
        kinds: &[DigestKind],
    ) -> rusqlite::Result<Option<([u8; 32], Suppressed)>> {
        for email in [Some(email.clone()), email.without_tag()].into_iter().flatten() {
            for text in digests::texts_of_email(&email) {
                for kind in kinds.iter().copied().filter(|kind| digests::is_of_email(*kind)) {
                    if let Some(entry) = self.entry(kind, &text)? {
                        return Ok(Some((entry, Suppressed::Email(email))));
                    }
                }
            }
        }
        Ok(None)
    }

    /// Searches the lists for a phone number. Returns the first entry that is found, and the number
    /// as the value to suppress.
    pub(crate) fn listed_phone(
        &self,
        phone: &Phone,
        kinds: &[DigestKind],
    ) -> rusqlite::Result<Option<([u8; 32], Suppressed)>> {
        for kind in kinds.iter().copied().filter(|kind| !digests::is_of_email(*kind)) {
            if let Some(entry) = self.entry(kind, digests::text_of_phone(phone))? {
                return Ok(Some((entry, Suppressed::Phone(phone.clone()))));
            }
        }
        Ok(None)
    }

    fn entry(&self, kind: DigestKind, text: &str) -> rusqlite::Result<Option<[u8; 32]>> {
        // The stored hash may have been made with an older secret, so all secrets are tried.
        for secret in self.secrets.newest_first() {
            let hash = digests::hash_of_text(secret, kind, text);
            if self.connection.has("SELECT 1 FROM listed WHERE hash = ?1", [hash])? {
                return Ok(Some(hash));
            }
        }
        Ok(None)
    }

    /// Stores which companies and people have `value`, which an entry of a suppression list names.
    /// If the entry is taken back later, the records of these companies and people can be imported
    /// again.
    fn note_match(&self, entry: &[u8; 32], value: &str) -> rusqlite::Result<()> {
        let note = "INSERT INTO list_match (hash, list, subject)
                    SELECT hash, list, ?2 FROM listed WHERE hash = ?1 ON CONFLICT DO NOTHING";
        for kind in EMAIL_KINDS.into_iter().chain(PHONE_KINDS) {
            for holder in self.view().holders(kind, value, usize::MAX)? {
                self.connection.run(note, params![entry, sql_id(holder.subject)])?;
            }
        }
        Ok(())
    }
}

fn find_list(connection: &Connection, content: &[u8; 32]) -> rusqlite::Result<Option<OpenedList>> {
    let find = "SELECT id, complete FROM suppression_list WHERE content = ?1";
    let read = |row: &Row<'_>| {
        let number = ListNumber(row.get(0)?);
        Ok(OpenedList { number, is_complete: row.get(1)? })
    };
    connection.find(find, [content], read)
}

/// Converts the number of a list to the integer that SQLite stores.
fn sql_number(list: ListNumber) -> i64 {
    i64::try_from(list.0).unwrap_or(i64::MAX)
}
