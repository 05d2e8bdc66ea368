//! Imports companies, and the employers in people's records.
//!
//! Values are merged by the rules of the native format (`docs/reference/import-format.md`). If a
//! source gives another record with the same id, the values of its earlier record stay too. To
//! replace them, remove the source and import it again.

use enrich_core::port::importer::Effect;
use enrich_core::{Attribute, CompanyRecord, Confidence, EmployerRecord, SubjectId};

use super::group::MatchedCompany;
use super::matching::Matching;
use super::subject_facts::{Kind, SourceClaim, SubjectFacts};
use super::writer::{Saved, Writer};
use crate::directory::companies::holders_of_domain;
use crate::directory::names;

/// The confidence of a company's name if only the domain is known and serves as the name. This is
/// the lowest confidence, so that a real name replaces the domain.
pub(crate) const DOMAIN_AS_NAME: Confidence = Confidence::clamped(1);

impl Writer<'_> {
    /// Saves a company to which a record was added. Returns what the record has changed.
    pub(super) fn save_matched(&mut self, matched: MatchedCompany) -> rusqlite::Result<Effect> {
        let MatchedCompany { record, claim, subject_facts, earlier, derived, is_new, .. } = matched;
        let subject = subject_facts.subject;
        let saved = self.save_derived(&subject_facts, derived)?;
        if !is_new {
            self.note_merged(subject);
            self.note_beside(&subject_facts)?;
        }
        if let Some(earlier) = earlier.filter(|earlier| *earlier != subject) {
            // An earlier version of the record was added to another company. Entity resolution
            // decides whether both versions describe one company.
            self.note_merged(earlier);
            self.note_merged(subject);
        }
        self.remember(claim.source, Kind::Company, &record.origin, subject)?;
        let of_domain = self.assert_of_main_domain(&subject_facts, &claim, &record)?;
        Ok(match (is_new, saved, of_domain) {
            (true, _, _) => Effect::Added,
            (false, Saved::Same, Effect::Unchanged) => Effect::Unchanged,
            (false, _, _) => Effect::Merged,
        })
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
            Some(name) => Matching::new(self.view()).bare_company(name, &[])?,
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

    /// Adds the record's IP address and page rank as facts of the record's main domain. If the
    /// record has no domain, adds them as facts of the stored company's main domain.
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

/// Adds the values of a record to the facts of its company.
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
