//! Finds the holders of an exact identifier: the companies and people that have it. Uses the hash
//! index (in memory) if possible, else the table `identifier`.

use enrich_core::{Confidence, DirectoryRevision, SubjectId};
use enrich_store_sqlite::Statements;
use rusqlite::params;

use super::codes::{IdentifierKind, sql_id};
use super::hash_index::{IndexHit, IndexResult};
use super::holder::{Holder, confidence_of, holder_of};
use super::profile::Profiled;
use super::view::{BARE_TIER, View, revision_of, unreadable};

impl View<'_> {
    /// Returns the holders of an identifier (the companies or people that have it), ordered by tier
    /// and then by id. Returns at most `limit` holders.
    pub(crate) fn holders(
        &self,
        kind: IdentifierKind,
        key: &str,
        limit: usize,
    ) -> rusqlite::Result<Vec<Holder>> {
        if self.locate(kind, key) == IndexResult::Nowhere {
            return Ok(Vec::new());
        }
        self.holders_from(kind, key, 0, limit)
    }

    /// Returns at most `limit` bare companies (known only by names) whose name has this look-up
    /// key, ordered by id.
    pub(crate) fn bare_companies(
        &self,
        name_key: &str,
        limit: usize,
    ) -> rusqlite::Result<Vec<SubjectId>> {
        let holders = self.holders_from(IdentifierKind::CompanyName, name_key, BARE_TIER, limit)?;
        Ok(holders.into_iter().map(|holder| holder.subject).collect())
    }

    /// Returns at most `limit` holders of an identifier whose tier is `least` or a higher number.
    /// Tier 0 is the strongest. So with 0, holders of all tiers are returned. With [`BARE_TIER`],
    /// only companies that are known only by names are returned.
    fn holders_from(
        &self,
        kind: IdentifierKind,
        key: &str,
        least: u8,
        limit: usize,
    ) -> rusqlite::Result<Vec<Holder>> {
        let Some(unwritten) = self.unwritten else {
            return self.stored_holders(kind, key, least, limit);
        };
        let changes = unwritten.changes(kind, key);
        let held = match unwritten.may_be_in_file(kind, key) {
            true => self.stored_holders(kind, key, least, limit.saturating_add(changes))?,
            false => Vec::new(),
        };
        if changes == 0 {
            return Ok(held);
        }
        Ok(unwritten.applied((kind, key), least, held, limit))
    }

    /// Like [`Self::holders_from`], but reads only the database file. Ignores changes that a load
    /// has not yet written to the file.
    ///
    /// The statement has no parameter for `LIMIT`. With such a parameter, SQLite may plan the
    /// statement again for each value, which is slow. Instead, the loop ends after `limit` rows.
    fn stored_holders(
        &self,
        kind: IdentifierKind,
        key: &str,
        least: u8,
        limit: usize,
    ) -> rusqlite::Result<Vec<Holder>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT subject, tier, confidence FROM identifier
             WHERE kind = ?1 AND key = ?2 AND tier >= ?3
             ORDER BY tier, subject",
        )?;
        let holders = statement.query_map(params![kind, key, least], |row| holder_of(row, 0))?;
        holders.take(limit).collect()
    }

    pub(crate) fn first_holder(
        &self,
        kind: IdentifierKind,
        key: &str,
    ) -> rusqlite::Result<Option<SubjectId>> {
        Ok(self.holders(kind, key, 1)?.first().map(|holder| holder.subject))
    }

    /// Returns the confidence of the source that gives this identifier to `subject` (a company or a
    /// person). With several such sources, returns the highest confidence. Returns `None` if
    /// `subject` does not have the identifier.
    pub(crate) fn confidence_of(
        &self,
        kind: IdentifierKind,
        key: &str,
        subject: SubjectId,
    ) -> rusqlite::Result<Option<Confidence>> {
        let select =
            "SELECT confidence FROM identifier WHERE kind = ?1 AND key = ?2 AND subject = ?3";
        let values = params![kind, key, sql_id(subject)];
        let confidences: Vec<Confidence> =
            self.connection.list(select, values, |row| Ok(confidence_of(row.get(0)?)))?;
        Ok(confidences.into_iter().max())
    }

    /// Finds the first holder of an exact identifier (the first subject that has it), in the state
    /// of the directory that this view reads. If the second holder has the same tier, the
    /// confidence is at most [`Confidence::AMBIGUOUS`]. If the holder is a person, only the id of
    /// the employer is read.
    pub(crate) fn first_with<T: Profiled>(
        &self,
        kind: IdentifierKind,
        key: &str,
    ) -> rusqlite::Result<Option<(T, Confidence)>> {
        let found = match self.locate(kind, key) {
            IndexResult::Nowhere => None,
            IndexResult::At(hit) => self.first_now(kind, key, Some(hit))?,
            IndexResult::Unknown => self.first_now(kind, key, None)?,
        };
        Ok(found.map(|(subject, confidence, _)| (subject, confidence)))
    }

    /// Finds an identifier in the hash index, if this view has one.
    fn locate(&self, kind: IdentifierKind, key: &str) -> IndexResult {
        self.index.map_or(IndexResult::Unknown, |index| index.locate(kind, key))
    }

    /// Finds the first holder of an identifier like [`Self::first_with`], but also returns the
    /// directory's revision. One statement reads both, so both belong to the same state. With
    /// [`Self::of_one_state`], a second statement would be needed. `hit` is what the hash index has
    /// returned. If it is `None` or outdated, or leads to a company or person without the
    /// identifier, the table `identifier` is read.
    pub(crate) fn first_now<T: Profiled>(
        &self,
        kind: IdentifierKind,
        key: &str,
        hit: Option<IndexHit>,
    ) -> rusqlite::Result<Option<(T, Confidence, DirectoryRevision)>> {
        if let Some(hit) = hit
            && let Some(subject) = self.follow(hit, kind, key)?
        {
            return Ok(Some((subject, hit.confidence, hit.revision)));
        }
        self.search_first_with(kind, key)
    }

    /// Reads the subject to which the hash index has led. Returns `None` if the directory now has
    /// another revision than `hit`, or if the subject does not have the identifier.
    fn follow<T: Profiled>(
        &self,
        hit: IndexHit,
        kind: IdentifierKind,
        key: &str,
    ) -> rusqlite::Result<Option<T>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT (SELECT generation FROM state), profile FROM subject \
             WHERE id = ?1 AND kind = ?2",
        )?;
        let mut rows = statement.query(params![sql_id(hit.subject), T::KIND])?;
        let Some(row) = rows.next()? else { return Ok(None) };
        if revision_of(row)? != hit.revision {
            return Ok(None);
        }
        let profile = row.get_ref(1)?.as_str()?;
        let subject = T::read(hit.subject, profile).map_err(unreadable)?;
        Ok(subject.has(kind, key).then_some(subject))
    }

    /// Finds the first holder of an identifier in the table `identifier`, without the hash index.
    fn search_first_with<T: Profiled>(
        &self,
        kind: IdentifierKind,
        key: &str,
    ) -> rusqlite::Result<Option<(T, Confidence, DirectoryRevision)>> {
        let mut statement = self.connection.prepare_cached(
            "SELECT (SELECT generation FROM state), identifier.subject, tier, confidence, profile \
             FROM identifier CROSS JOIN subject \
             WHERE identifier.kind = ?1 AND key = ?2 \
             AND subject.id = identifier.subject AND subject.kind = ?3 \
             ORDER BY tier, identifier.subject",
        )?;
        let mut rows = statement.query(params![kind, key, T::KIND])?;
        let Some(row) = rows.next()? else { return Ok(None) };
        let (revision, first) = (revision_of(row)?, holder_of(row, 1)?);
        let profile = row.get_ref(4)?.as_str()?;
        let subject = T::read(first.subject, profile).map_err(unreadable)?;
        let next_tier = rows.next()?.map(|row| row.get(2)).transpose()?;
        Ok(Some((subject, first.confidence_beside(next_tier), revision)))
    }
}
