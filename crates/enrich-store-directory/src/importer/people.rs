//! Imports people.
//!
//! A record is imported to a stored person in one of two cases, which are tried in this order:
//!
//! 1. The record and the person have the same LinkedIn page, the same email address, or the same
//!    name and employer ([`PersonRecord::identities`]). The search by email address and the search
//!    by name skip a person who has another LinkedIn page than the record.
//! 2. An earlier record of the same source with the same id was imported to this person.
//!
//! Otherwise the record describes a new person.

use enrich_core::port::importer::{Effect, ImportOutcome, NewSubjects};
use enrich_core::{Attribute, Identity, PersonRecord, SubjectId};
use enrich_text::{EmailAddress, PersonName, PersonPage};

use super::origins::Remembered;
use super::subject_facts::{Kind, SourceClaim, SubjectFacts};
use super::writer::{Saved, Writer};
use crate::directory::codes::IdentifierKind;
use crate::directory::people::name_in;

/// Maximum number of stored people with an email address of the record that are compared with the
/// record, for each of its addresses. It is also the maximum number for stored people with the
/// record's name and employer.
const MAX_NAMESAKES: usize = 1000;

impl Writer<'_> {
    /// Imports a person's record. Returns the outcome, and whether this is the first time that the
    /// source gives this record.
    pub(crate) fn take_person(
        &mut self,
        source: i64,
        mut record: PersonRecord,
        new_subjects: NewSubjects,
    ) -> rusqlite::Result<(ImportOutcome, bool)> {
        if let Some(page) = &record.page
            && self.is_page_suppressed(page)?
        {
            return Ok((ImportOutcome { effect: Effect::Suppressed, suppressed_values: 0 }, false));
        }
        let suppressed_values = self.screen_person(&mut record)?;
        let taken = |effect| ImportOutcome { effect, suppressed_values };
        let remembered = self.remembered(source, Kind::Person, &record.origin)?;
        let earlier = match remembered {
            Remembered::Same => return Ok((taken(Effect::Unchanged), false)),
            Remembered::Forgotten => return Ok((taken(Effect::Suppressed), false)),
            Remembered::Earlier(subject) => Some(subject),
            Remembered::No => None,
        };
        let claim = SourceClaim::of(source, &record.origin, self.at);
        let employer = match &record.employer {
            Some(employer) if new_subjects == NewSubjects::Skip => self.held_employer(employer)?,
            Some(employer) => self.employer(&claim, employer)?,
            None => None,
        };
        let held = self.person_of(&record, employer)?.or(earlier);
        let mut subject_facts = match held {
            Some(id) => self.subject_facts(id, Kind::Person)?,
            None if new_subjects == NewSubjects::Skip => {
                return Ok((taken(Effect::NotHeld), false));
            }
            None => self.new_subject_facts(Kind::Person),
        };
        assert_person(&mut subject_facts, &claim, &record, employer);
        let saved = self.save(&subject_facts)?;
        self.remember(source, Kind::Person, &record.origin, subject_facts.subject)?;
        let effect = match (held, saved) {
            (None, _) => Effect::Added,
            (Some(_), Saved::Same) => Effect::Unchanged,
            (Some(_), Saved::Changed | Saved::Gone) => Effect::Merged,
        };
        Ok((taken(effect), true))
    }

    fn person_of(
        &self,
        record: &PersonRecord,
        employer: Option<SubjectId>,
    ) -> rusqlite::Result<Option<SubjectId>> {
        for identity in record.identities() {
            let held = match identity {
                Identity::PersonPage(page) => {
                    self.view().first_holder(IdentifierKind::PersonPage, page.key())?
                }
                Identity::Emails(emails) => self.person_reached_at(emails, record.page.as_ref())?,
                Identity::NameAtEmployer => match employer {
                    Some(employer) => {
                        self.person_named(&record.name, employer, record.page.as_ref())?
                    }
                    None => None,
                },
                Identity::Domain(_) | Identity::Page(_) | Identity::NameAndSeats(..) => None,
            };
            if held.is_some() {
                return Ok(held);
            }
        }
        Ok(None)
    }

    /// Finds the first person with one of these email addresses. If the record has a `page`, only a
    /// person without a page is returned.
    fn person_reached_at(
        &self,
        emails: &[EmailAddress],
        page: Option<&PersonPage>,
    ) -> rusqlite::Result<Option<SubjectId>> {
        let kind = IdentifierKind::PersonEmail;
        for email in emails {
            for holder in self.view().holders(kind, email.as_str(), MAX_NAMESAKES)? {
                if page.is_none() {
                    return Ok(Some(holder.subject));
                }
                // The record's page was looked up before, and no stored person has it. So if this
                // person has a page, it is another page, and this is another person.
                let person = self.view().person_alone(holder.subject)?;
                if person.is_some_and(|person| person.page.is_none()) {
                    return Ok(Some(holder.subject));
                }
            }
        }
        Ok(None)
    }

    /// Finds the person with exactly this name at this employer. If the record has a `page`, only a
    /// person without a page is returned.
    fn person_named(
        &self,
        name: &PersonName,
        employer: SubjectId,
        page: Option<&PersonPage>,
    ) -> rusqlite::Result<Option<SubjectId>> {
        // Equal names have the same key, so this one key finds all people with the name.
        let key = name_in(&employer.0.to_string(), &name.key());
        let kind = IdentifierKind::PersonAtCompany;
        for holder in self.view().holders(kind, &key, MAX_NAMESAKES)? {
            let Some(person) = self.view().person_alone(holder.subject)? else { continue };
            if page.is_some() && person.page.is_some() {
                continue;
            }
            let held = PersonName::from_parts(&person.first_name, &person.last_name);
            if held.is_ok_and(|held| held == *name) {
                return Ok(Some(person.id));
            }
        }
        Ok(None)
    }
}

fn assert_person(
    subject_facts: &mut SubjectFacts,
    claim: &SourceClaim,
    record: &PersonRecord,
    employer: Option<SubjectId>,
) {
    subject_facts.assert_fact(claim, Attribute::FirstName, &record.first_name);
    subject_facts.assert_fact(claim, Attribute::LastName, &record.last_name);
    if let Some(title) = &record.title {
        subject_facts.assert_fact(claim, Attribute::Title, title);
    }
    if let Some(employer) = employer {
        subject_facts.assert_fact(claim, Attribute::Employer, &employer.0.to_string());
    }
    if let Some(country) = record.country {
        subject_facts.assert_fact(claim, Attribute::Country, country.alpha2());
    }
    if let Some(page) = &record.page {
        subject_facts.assert_fact(claim, Attribute::PersonPage, page.as_str());
    }
    for email in &record.emails {
        subject_facts.assert_fact(claim, Attribute::Email, email.as_str());
    }
    for phone in &record.phones {
        subject_facts.assert_fact(claim, Attribute::Phone, phone.as_str());
    }
}
