//! Finds the stored company that a record describes.
//!
//! These rules are tried in order, until one of them finds a company:
//!
//! 1. The company of an earlier record, if the same source has given both records with the same id.
//! 2. A company with one of the record's external ids.
//! 3. A company with the record's main domain. If the record has no domain: a company with its
//!    LinkedIn page, or else with its name and seats ([`CompanyRecord::identity`]).
//! 4. A bare company (known only by names) with the record's name. For example, an earlier record
//!    of a person has named this company as the employer. Because of this rule, people and
//!    companies can be imported in any order.
//!
//! If a record and a company have no common external id, but different ids of the same scheme (such
//! as two different LEIs), the record is never added to this company ([`ids_differ`]).

use std::cell::Cell;

use enrich_core::resolution::{RecordClaims, may_link};
use enrich_core::{CompanyRecord, Identity, SubjectId, ids_differ};
use enrich_text::{CompanyName, Country, ExternalId};

use super::group::Unsaved;
use crate::directory::codes::IdentifierKind;
use crate::directory::names::{self, Fit};
use crate::directory::view::View;

/// Maximum number of companies with the same name (without spaces and legal form) that are compared
/// with a record. This applies to a record that has neither a domain nor a LinkedIn page.
const MAX_NAMESAKES: usize = 1000;
/// Maximum number of bare companies (known only by names) that are compared with a record.
const MAX_BARE: usize = 64;
/// Maximum number of companies with the same domain, LinkedIn page or external id that are compared
/// with a record.
const MAX_SHARING: usize = 64;

/// The search for the company of one record among the stored companies.
pub(super) struct Matching<'a> {
    view: View<'a>,
    /// Companies that are not saved yet. With `None`, `depends_on_unsaved` stays `false`.
    unsaved: Option<&'a Unsaved>,
    depends_on_unsaved: Cell<bool>,
}

impl<'a> Matching<'a> {
    pub(super) fn new(view: View<'a>) -> Self {
        Self { view, unsaved: None, depends_on_unsaved: Cell::new(false) }
    }

    /// Creates a search that notices whether saving the companies of `unsaved` could change its
    /// result.
    pub(super) fn beside(view: View<'a>, unsaved: &'a Unsaved) -> Self {
        Self { unsaved: Some(unsaved), ..Self::new(view) }
    }

    /// Whether saving the unsaved companies could change the result. If so, the caller must save
    /// them and repeat the search.
    pub(super) fn depends_on_unsaved(&self) -> bool {
        self.depends_on_unsaved.get()
    }

    /// Finds the stored company that matches the record. `earlier` is the company of an earlier
    /// record that has the same source and the same record id.
    pub(super) fn company(
        &self,
        record: &CompanyRecord,
        earlier: Option<SubjectId>,
    ) -> rusqlite::Result<Option<SubjectId>> {
        // The source may have given an earlier record with the same record id. Then the company of
        // that earlier record is the result, even if the new record has other values. The only
        // exception: this company and the new record have different external ids of the same
        // register.
        if let Some(earlier) = earlier
            && self.may_be(earlier, &record.ids)?
        {
            return Ok(Some(earlier));
        }
        let mut held = self.company_with_id(&record.ids)?;
        if held.is_none() {
            held = self.company_of(record)?;
        }
        if held.is_none() {
            held = self.bare_company(&record.name, &record.ids)?;
        }
        Ok(held)
    }

    /// Finds the first company that has one of these ids. Prefers a company whose other ids agree
    /// with `ids` ([`ids_differ`]).
    fn company_with_id(&self, ids: &[ExternalId]) -> rusqlite::Result<Option<SubjectId>> {
        let mut first = None;
        for id in ids {
            for holder in self.holders(IdentifierKind::CompanyId, id.as_str(), MAX_SHARING)? {
                if ids.len() == 1 || self.may_be(holder, ids)? {
                    return Ok(Some(holder));
                }
                first = first.or(Some(holder));
            }
        }
        Ok(first)
    }

    /// Whether a record with `ids` may describe the company. If `ids` and the company's ids contain
    /// ids of the same scheme, they must have a common id of this scheme.
    fn may_be(&self, company: SubjectId, ids: &[ExternalId]) -> rusqlite::Result<bool> {
        self.look_at(company);
        if ids.is_empty() {
            return Ok(true);
        }
        let company = self.view.company(company)?;
        Ok(company.is_some_and(|company| !ids_differ(ids, &company.ids)))
    }

    /// Finds the company of a record by the record's main domain; if the record has no domain, by
    /// its LinkedIn page. Returns the first company with this domain or page that fits the record.
    /// A company fits under two conditions: its ids do not contradict the ids of the record, and it
    /// has the record's name or a value that links it with the record.
    ///
    /// If the record has neither a domain nor a LinkedIn page, finds the company with the record's
    /// name and seats.
    fn company_of(&self, record: &CompanyRecord) -> rusqlite::Result<Option<SubjectId>> {
        let (kind, key) = match record.identity() {
            Identity::Domain(domain) => (IdentifierKind::CompanyDomain, domain.as_str()),
            Identity::Page(page) => (IdentifierKind::CompanyPage, page.key()),
            Identity::NameAndSeats(name, seats) => {
                return self.company_named(name, seats, &record.ids);
            }
            Identity::PersonPage(_) | Identity::Emails(_) | Identity::NameAtEmployer => {
                return Ok(None);
            }
        };
        let holders = self.holders(kind, key, MAX_SHARING)?;
        if holders.is_empty() {
            return Ok(None);
        }
        let claims = RecordClaims::of_record(record);
        for holder in holders {
            let Some(company) = self.view.company(holder)? else { continue };
            let is_named_so = CompanyName::parse(&company.name)
                .is_ok_and(|name| name.squashed() == record.name.squashed());
            if !ids_differ(&record.ids, &company.ids)
                && (is_named_so || may_link(&claims, &RecordClaims::of_company(&company)))
            {
                return Ok(Some(holder));
            }
        }
        Ok(None)
    }

    /// Finds the stored company that has `name` as its name or alias and a seat in one of the
    /// countries `seats`. If `seats` is empty, the company must have no seat either. If several
    /// companies fit, returns the first. A company whose ids contradict `ids` ([`ids_differ`]) does
    /// not fit.
    fn company_named(
        &self,
        name: &CompanyName,
        seats: &[Country],
        ids: &[ExternalId],
    ) -> rusqlite::Result<Option<SubjectId>> {
        let kind = IdentifierKind::CompanyName;
        for holder in self.holders(kind, name.squashed(), MAX_NAMESAKES)? {
            let Some(company) = self.view.company(holder)? else { continue };
            let has_common_seat = company.seats.iter().any(|seat| seats.contains(seat));
            let have_none = company.seats.is_empty() && seats.is_empty();
            let is_named_so = matches!(names::fit(name, &company), Some(Fit::Name | Fit::Alias));
            if (has_common_seat || have_none) && is_named_so && !ids_differ(ids, &company.ids) {
                return Ok(Some(company.id));
            }
        }
        Ok(None)
    }

    /// Finds the first bare company (known only by names) with this name. Skips companies whose ids
    /// contradict `ids` ([`ids_differ`]).
    pub(super) fn bare_company(
        &self,
        name: &CompanyName,
        ids: &[ExternalId],
    ) -> rusqlite::Result<Option<SubjectId>> {
        if self.unsaved.is_some_and(|unsaved| unsaved.adds_bare_company(name.squashed())) {
            self.depends_on_unsaved.set(true);
        }
        let bare = self.view.bare_companies(name.squashed(), MAX_BARE)?;
        self.look_at_all(&bare, MAX_BARE);
        for id in bare {
            let Some(company) = self.view.company(id)? else { continue };
            let is_named_so = matches!(names::fit(name, &company), Some(Fit::Name | Fit::Alias));
            if is_named_so && !ids_differ(ids, &company.ids) {
                return Ok(Some(id));
            }
        }
        Ok(None)
    }

    /// Returns the companies that have an identifier, at most `most`.
    fn holders(
        &self,
        kind: IdentifierKind,
        key: &str,
        most: usize,
    ) -> rusqlite::Result<Vec<SubjectId>> {
        if self.unsaved.is_some_and(|unsaved| unsaved.adds(kind, key)) {
            self.depends_on_unsaved.set(true);
        }
        let holders = self.view.holders(kind, key, most)?;
        let holders: Vec<SubjectId> = holders.iter().map(|holder| holder.subject).collect();
        self.look_at_all(&holders, most);
        Ok(holders)
    }

    /// Notes that the result of the search depends on these companies ([`Self::look_at`]). `most`
    /// is the maximum number of companies that the query returns. If it returned that many, saving
    /// any unsaved company could change which companies it returns. Then the result depends on all
    /// unsaved companies too.
    fn look_at_all(&self, companies: &[SubjectId], most: usize) {
        companies.iter().for_each(|company| self.look_at(*company));
        if companies.len() >= most && self.unsaved.is_some_and(|unsaved| !unsaved.is_empty()) {
            self.depends_on_unsaved.set(true);
        }
    }

    /// Notes that the result of the search depends on this company: sets `depends_on_unsaved` if
    /// the company has changes that are not saved yet.
    fn look_at(&self, company: SubjectId) {
        if self.unsaved.is_some_and(|unsaved| unsaved.has(company)) {
            self.depends_on_unsaved.set(true);
        }
    }
}
