//! Imports companies, and the employers in people's records.
//!
//! A record belongs to the stored company that has one of the record's external ids. Else the rules
//! of the native format decide ([`CompanyRecord::identity`]). If no stored company fits these
//! rules, two more questions are asked before a new company is added:
//!
//! - Has the same source given a record with the same id before? Then the new record describes the
//!   company of that earlier record.
//! - Is there a bare company with this name? It was added as the employer of a person, and the
//!   record describes this company. Because of this question, people and companies can be imported
//!   in any order.
//!
//! None of these rules merges a record with a company that has other ids in the same scheme
//! ([`ids_differ`]).
//!
//! Values are merged by the rules of the native format. If a source gives another record with the
//! same id, the values of its earlier record stay too. To replace them, remove the source and
//! import it again.

use enrich_core::port::importer::{Effect, ImportOutcome, Subjects};
use enrich_core::resolution::{RecordClaims, may_link};
use enrich_core::{
    Attribute, CompanyRecord, Confidence, EmployerRecord, Identity, SubjectId, ids_differ,
};
use enrich_text::{CompanyName, Country, ExternalId};

use super::derive::Derived;
use super::origins::Remembered;
use super::subject_facts::{Kind, SourceClaim, SubjectFacts};
use super::writer::{Saved, Writer};
use crate::directory::codes::IdentifierKind;
use crate::directory::companies::holders_of_domain;
use crate::directory::names::{self, Fit};

/// Maximum number of companies with one look-up key that are compared with a record that is name
/// only.
const MOST_NAMESAKES: usize = 1000;
/// Maximum number of bare companies that are compared with a record.
const MOST_BARE: usize = 64;
/// Maximum number of companies with one domain, page or id whose ids are compared with those of a
/// record.
const MOST_SHARING: usize = 64;
/// The confidence of a company's name if it is only the company's domain. Any other name has a
/// higher confidence.
pub(crate) const DOMAIN_AS_NAME: Confidence = Confidence::clamped(1);

impl Writer<'_> {
    /// Imports a company's record. `alone` is the data that was derived from this record alone, if
    /// it was derived already. Returns the effect, and whether the source gives this record for the
    /// first time.
    pub(crate) fn take_company(
        &mut self,
        source: i64,
        mut record: CompanyRecord,
        subjects: Subjects,
        alone: Option<Derived>,
    ) -> rusqlite::Result<(ImportOutcome, bool)> {
        let suppressed_values = self.screen_company(&mut record)?;
        let taken = |effect| ImportOutcome { effect, suppressed_values };
        let remembered = self.remembered(source, Kind::Company, &record.origin)?;
        let earlier = match remembered {
            Remembered::Same => return Ok((taken(Effect::Unchanged), false)),
            Remembered::Forgotten => return Ok((taken(Effect::Suppressed), false)),
            Remembered::Earlier(subject) => Some(subject),
            Remembered::No => None,
        };
        let mut subject_facts = match self.matching_company(&record, earlier)? {
            Some(id) => self.subject_facts(id, Kind::Company)?,
            None if subjects == Subjects::Held => return Ok((taken(Effect::NotHeld), false)),
            None => self.new_subject_facts(Kind::Company),
        };
        let is_new = subject_facts.facts.is_empty();
        let claim = SourceClaim::of_company(source, &record.origin, self.at);
        assert_company(&mut subject_facts, &claim, &record);
        // `alone` was derived from the unchanged record. So it is not used if suppressed values
        // were removed from the record.
        let alone = alone.filter(|_| is_new && suppressed_values == 0);
        let saved = self.save_derived(&subject_facts, alone)?;
        if !is_new {
            self.note_merged(subject_facts.subject);
            self.note_beside(&subject_facts)?;
        }
        if let Some(earlier) = earlier.filter(|earlier| *earlier != subject_facts.subject) {
            // Entity resolution decides whether both versions of the record are one company.
            self.note_merged(earlier);
            self.note_merged(subject_facts.subject);
        }
        self.remember(source, Kind::Company, &record.origin, subject_facts.subject)?;
        let of_domain = self.assert_of_main_domain(&subject_facts, &claim, &record)?;
        let effect = match (is_new, saved, of_domain) {
            (true, _, _) => Effect::Added,
            (false, Saved::Same, Effect::Unchanged) => Effect::Unchanged,
            (false, _, _) => Effect::Merged,
        };
        Ok((taken(effect), true))
    }

    /// Finds the company that a person's record gives as the employer, and creates the company if
    /// it does not exist. Returns `None` if the record has neither a name nor a domain of an
    /// employer.
    pub(crate) fn employer(
        &mut self,
        claim: &SourceClaim,
        employer: &EmployerRecord,
    ) -> rusqlite::Result<Option<SubjectId>> {
        let (name, domain) = (employer.name.as_ref(), employer.domain.as_ref());
        let held = self.held_employer(employer)?;
        if held.is_some() || (name.is_none() && domain.is_none()) {
            return Ok(held);
        }
        let bare = match name {
            Some(name) => self.bare_company(name, &[])?,
            None => None,
        };
        let mut subject_facts = match bare {
            Some(id) => self.subject_facts(id, Kind::Company)?,
            None => self.new_subject_facts(Kind::Company),
        };
        let claim = &claim.of_employer();
        match (name, domain) {
            (Some(name), _) => subject_facts.assert_fact(claim, Attribute::Name, name.display()),
            (None, Some(domain)) => {
                let claim = SourceClaim { confidence: DOMAIN_AS_NAME, ..claim.clone() };
                subject_facts.assert_fact(&claim, Attribute::Name, domain.as_str());
            }
            (None, None) => {}
        }
        if let Some(domain) = domain {
            subject_facts.assert_fact(claim, Attribute::Domain, domain.as_str());
        }
        self.save(&subject_facts)?;
        Ok(Some(subject_facts.subject))
    }

    /// Finds the stored company that a person's record gives as the employer, by its domain, or by
    /// its name if the record has no domain.
    pub(crate) fn held_employer(
        &self,
        employer: &EmployerRecord,
    ) -> rusqlite::Result<Option<SubjectId>> {
        match (employer.domain.as_ref(), employer.name.as_ref()) {
            (Some(domain), _) => {
                Ok(holders_of_domain(self.view(), domain)?.first().map(|holder| holder.subject))
            }
            (None, Some(name)) => {
                let ranked = names::ranked(self.view(), name, None)?;
                Ok(ranked.and_then(|ranked| names::employer(&ranked)))
            }
            (None, None) => Ok(None),
        }
    }

    /// Finds the stored company that matches the record. `earlier` is the company of an earlier
    /// record of this source with the same id.
    fn matching_company(
        &self,
        record: &CompanyRecord,
        earlier: Option<SubjectId>,
    ) -> rusqlite::Result<Option<SubjectId>> {
        // An earlier version of the record decides, whatever values the new version has.
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
            let kind = IdentifierKind::CompanyId;
            for holder in self.view().holders(kind, id.as_str(), MOST_SHARING)? {
                if ids.len() == 1 || self.may_be(holder.subject, ids)? {
                    return Ok(Some(holder.subject));
                }
                first = first.or(Some(holder.subject));
            }
        }
        Ok(first)
    }

    /// Whether a record with `ids` may describe the company. If the company has ids in a scheme of
    /// `ids`, they must agree.
    fn may_be(&self, company: SubjectId, ids: &[ExternalId]) -> rusqlite::Result<bool> {
        if ids.is_empty() {
            return Ok(true);
        }
        let company = self.view().company(company)?;
        Ok(company.is_some_and(|company| !ids_differ(ids, &company.ids)))
    }

    /// Finds the first company with the record's main domain or page, if the name and the ids of
    /// both can belong to one company. If the record has neither a domain nor a page, finds the
    /// company with the record's name.
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
        let holders = self.view().holders(kind, key, MOST_SHARING)?;
        if holders.is_empty() {
            return Ok(None);
        }
        let claims = RecordClaims::of_record(record);
        for holder in holders {
            let Some(company) = self.view().company(holder.subject)? else { continue };
            let is_named_so = CompanyName::parse(&company.name)
                .is_ok_and(|name| name.squashed() == record.name.squashed());
            if !ids_differ(&record.ids, &company.ids)
                && (is_named_so || may_link(&claims, &RecordClaims::of_company(&company)))
            {
                return Ok(Some(holder.subject));
            }
        }
        Ok(None)
    }

    /// Finds the stored company that has `name` as its name or alias and a seat in one of the
    /// countries `seats`. If `seats` is empty, the company must have no seat either. If several
    /// companies fit, returns the first. A company whose ids differ from `ids` does not fit.
    fn company_named(
        &self,
        name: &CompanyName,
        seats: &[Country],
        ids: &[ExternalId],
    ) -> rusqlite::Result<Option<SubjectId>> {
        let kind = IdentifierKind::CompanyName;
        for holder in self.view().holders(kind, name.squashed(), MOST_NAMESAKES)? {
            let Some(company) = self.view().company(holder.subject)? else { continue };
            let has_common_seat = company.seats.iter().any(|seat| seats.contains(seat));
            let have_none = company.seats.is_empty() && seats.is_empty();
            let is_named_so = matches!(names::fit(name, &company), Some(Fit::Name | Fit::Alias));
            if (has_common_seat || have_none) && is_named_so && !ids_differ(ids, &company.ids) {
                return Ok(Some(company.id));
            }
        }
        Ok(None)
    }

    /// Finds the first bare company with this name whose ids do not differ from `ids`.
    fn bare_company(
        &self,
        name: &CompanyName,
        ids: &[ExternalId],
    ) -> rusqlite::Result<Option<SubjectId>> {
        for id in self.view().bare_companies(name.squashed(), MOST_BARE)? {
            let Some(company) = self.view().company(id)? else { continue };
            let is_named_so = matches!(names::fit(name, &company), Some(Fit::Name | Fit::Alias));
            if is_named_so && !ids_differ(ids, &company.ids) {
                return Ok(Some(id));
            }
        }
        Ok(None)
    }

    /// Adds the record's IP address and page rank as facts of the record's main domain. If the
    /// record has no domain, they become facts of the stored company's main domain.
    fn assert_of_main_domain(
        &mut self,
        subject_facts: &SubjectFacts,
        claim: &SourceClaim,
        record: &CompanyRecord,
    ) -> rusqlite::Result<Effect> {
        if record.ip.is_none() && record.page_rank.is_none() {
            return Ok(Effect::Unchanged);
        }
        let own = record.sites.first().map(|(domain, _)| domain.as_str());
        let merged = if own.is_none() { subject_facts.merged().facts } else { Vec::new() };
        let held = || {
            let domain = merged.iter().find(|fact| fact.attribute == Attribute::Domain);
            domain.map(|fact| fact.value.as_str())
        };
        match own.or_else(held) {
            Some(domain) => {
                let rank = record.page_rank.as_deref();
                Ok(self.assert_of_domain(claim, domain, record.ip, rank)?.0)
            }
            None => Ok(Effect::Unchanged),
        }
    }
}

/// Adds what a record says to the facts of its company.
pub(super) fn assert_company(
    subject_facts: &mut SubjectFacts,
    claim: &SourceClaim,
    record: &CompanyRecord,
) {
    subject_facts.assert_fact(claim, Attribute::Name, record.name.display());
    for alias in &record.aliases {
        subject_facts.assert_fact(claim, Attribute::Alias, alias.display());
    }
    for seat in &record.seats {
        subject_facts.assert_fact(claim, Attribute::Country, seat.alpha2());
    }
    for (domain, country) in &record.sites {
        subject_facts.assert_fact_for(claim, Attribute::Domain, domain.as_str(), *country);
    }
    for page in &record.pages {
        subject_facts.assert_fact(claim, Attribute::Page(page.network()), page.as_str());
    }
    for email in &record.emails {
        subject_facts.assert_fact(claim, Attribute::Email, email.as_str());
    }
    for phone in &record.phones {
        subject_facts.assert_fact(claim, Attribute::Phone, phone.as_str());
    }
    for id in &record.ids {
        subject_facts.assert_fact(claim, Attribute::ExternalId, id.as_str());
    }
    if let Some(parent) = &record.parent {
        subject_facts.assert_fact(claim, Attribute::Parent, parent.as_str());
    }
}
