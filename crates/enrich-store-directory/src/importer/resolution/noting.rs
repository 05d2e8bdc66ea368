//! Notes companies for entity resolution, during an import or the removal of a source. Entity
//! resolution later decides again which records of the noted companies describe the same company.
//! Also finds the company into which another company was merged.

use std::collections::HashSet;

use enrich_core::resolution::MAX_BEARERS;
use enrich_core::{Attribute, Fact, SubjectId};
use enrich_store_sqlite::Statements;
use enrich_text::{CompanyName, PageUrl};
use rustc_hash::FxHashSet;

use super::super::derive::Derived;
use super::super::subject_facts::SubjectFacts;
use super::super::unresolved::linkable_by;
use super::super::writer::Writer;
use crate::directory::codes::{IdentifierKind, sql_id, subject_id};

impl Writer<'_> {
    /// Notes this company for entity resolution, and also all companies that an identifier in
    /// `derived` can link with it. Entity resolution later decides again which records of these
    /// companies describe the same company.
    pub(in super::super) fn note_with_neighbours(
        &mut self,
        subject: SubjectId,
        derived: &Derived,
    ) -> rusqlite::Result<()> {
        if self.notes.is_resolving {
            return Ok(());
        }
        self.notes.note(subject);
        let keys = derived.identifiers.keys().filter(|(kind, _)| kind.is_blocking());
        for (kind, key) in keys {
            // An identifier can link companies only if at most `MAX_BEARERS` companies have it. So
            // if `MAX_BEARERS + 1` companies have an identifier now, it links none of them. But the
            // company `subject` may soon lose the identifier. Then the identifier can link the
            // remaining companies. So these companies are noted too.
            let holders = self.view().holders(*kind, key, MAX_BEARERS + 2)?;
            if holders.len() <= MAX_BEARERS + 1 {
                let linked = match kind {
                    IdentifierKind::CompanyName => linkable_by(self.view(), key, MAX_BEARERS + 1)?,
                    _ => holders,
                };
                linked.iter().for_each(|holder| self.notes.note(holder.subject));
            }
        }
        Ok(())
    }

    /// Notes this company, because a further record was added to it. Entity resolution then checks
    /// again which records of this and other companies describe one company.
    pub(in super::super) fn note_merged(&mut self, subject: SubjectId) {
        self.notes.note(subject);
    }

    /// Notes the companies that share a host with a company to which a further record was added. If
    /// that company has several names, also notes the companies that share a page or phone number
    /// with it. Entity resolution later decides again which records of the noted companies describe
    /// the same company.
    ///
    /// The reason: the record may change how many organisations share the host, page or phone
    /// number. If too many share it, it identifies no company.
    pub(in super::super) fn note_beside(
        &mut self,
        subject_facts: &SubjectFacts,
    ) -> rusqlite::Result<()> {
        let has_several_names = has_several_names(&subject_facts.facts);
        let mut noted = FxHashSet::default();
        for fact in &subject_facts.facts {
            let (kind, key) = match fact.attribute {
                Attribute::Domain => (IdentifierKind::CompanyDomain, fact.value.clone()),
                Attribute::Page(network) if has_several_names => {
                    let Ok(page) = PageUrl::parse(network, &fact.value) else { continue };
                    (IdentifierKind::CompanyPage, page.key().to_owned())
                }
                Attribute::Phone if has_several_names => {
                    (IdentifierKind::CompanyPhone, fact.value.clone())
                }
                _ => continue,
            };
            if !noted.insert((kind, key.clone())) {
                continue;
            }
            let holders = self.view().holders(kind, &key, MAX_BEARERS + 1)?;
            if (2..=MAX_BEARERS).contains(&holders.len()) {
                holders.iter().for_each(|holder| self.notes.note(holder.subject));
            }
        }
        Ok(())
    }

    /// Returns the company into which `subject` was merged. If that company was merged too, follows
    /// the merges up to the last one. Returns `subject` if it was never merged.
    pub(in super::super) fn successor(
        &self,
        mut subject: SubjectId,
    ) -> rusqlite::Result<SubjectId> {
        let next = "SELECT merged_into FROM merged_company WHERE subject = ?1";
        // A merged company no longer exists, so no company can be merged into it later. So the
        // merges form no cycle, and the loop ends.
        while let Some(id) = self.connection.find(next, [sql_id(subject)], |row| row.get(0))? {
            subject = subject_id(id);
        }
        Ok(subject)
    }

    /// Deletes from the table `merged_company` the companies that were merged into the removed
    /// company `subject`, directly or through others. Adds their ids to `touched`.
    pub(in super::super) fn forget_merged(
        &self,
        subject: SubjectId,
        touched: &mut HashSet<i64>,
    ) -> rusqlite::Result<()> {
        let mut gone = vec![sql_id(subject)];
        while let Some(id) = gone.pop() {
            let former = "SELECT subject FROM merged_company WHERE merged_into = ?1";
            let former: Vec<i64> = self.connection.list(former, [id], |row| row.get(0))?;
            self.connection.run("DELETE FROM merged_company WHERE merged_into = ?1", [id])?;
            touched.extend(&former);
            gone.extend(former);
        }
        Ok(())
    }
}

/// Whether a company has names or aliases with different look-up keys.
fn has_several_names(facts: &[Fact]) -> bool {
    let is_name = |fact: &&Fact| matches!(fact.attribute, Attribute::Name | Attribute::Alias);
    let names = facts.iter().filter(is_name);
    let mut names = names.filter_map(|fact| CompanyName::parse(&fact.value).ok());
    names.next().is_some_and(|first| names.any(|name| name.squashed() != first.squashed()))
}
