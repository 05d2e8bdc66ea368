//! Imports the records of a batch.
//!
//! The records of companies are matched one after the other: for each record, its company is looked
//! for among the stored companies. The companies are saved later, in groups ([`Unsaved`]). When too
//! many groups wait, the oldest group is saved. All groups are saved before a record whose match
//! may depend on them, before the record of a person or a domain, and at the end of the batch. So
//! the result is the same as if each record was saved before the next one is matched.

use enrich_core::port::importer::{Effect, ImportOptions, ImportOutcome, NewSubjects};
use enrich_core::{CompanyRecord, Record};

use super::companies::assert_company;
use super::group::{Matched, MatchedCompany, Unsaved};
use super::matching::Matching;
use super::origins::Remembered;
use super::subject_facts::{Kind, SourceClaim};
use super::writer::Writer;

/// Imports a batch of records. Returns one outcome for each record, in order.
pub(super) fn take(
    writer: &mut Writer<'_>,
    options: &ImportOptions,
    records: Vec<Record>,
) -> rusqlite::Result<Vec<ImportOutcome>> {
    if records.is_empty() && writer.source_named(&options.source)?.is_none() {
        return Ok(Vec::new());
    }
    let source = writer.source(options)?;
    let mut batch = Batch {
        writer,
        source,
        new_subjects: options.new_subjects,
        unsaved: Unsaved::new(),
        outcomes: Vec::with_capacity(records.len()),
        new_records: 0,
    };
    for record in records {
        batch.take(record)?;
    }
    batch.save_all()?;
    let Batch { writer, outcomes, new_records, .. } = batch;
    writer.count_records(source, new_records)?;
    Ok(outcomes)
}

/// A batch that is being imported.
struct Batch<'w, 'c> {
    writer: &'w mut Writer<'c>,
    source: i64,
    new_subjects: NewSubjects,
    /// The company records that are matched but not yet saved. In the batch, they come directly
    /// after the records whose outcomes are already in `outcomes`.
    unsaved: Unsaved,
    outcomes: Vec<ImportOutcome>,
    /// The number of imported records that are new: no equal record of the same source was imported
    /// before.
    new_records: i64,
}

impl Batch<'_, '_> {
    fn take(&mut self, record: Record) -> rusqlite::Result<()> {
        let (outcome, is_new) = match record {
            Record::Company(record) => return self.take_company(record),
            Record::Person(record) => {
                self.save_all()?;
                self.writer.take_person(self.source, record, self.new_subjects)?
            }
            Record::Domain(record) => {
                self.save_all()?;
                self.writer.take_domain(self.source, &record)?
            }
        };
        self.outcomes.push(outcome);
        self.new_records += i64::from(is_new);
        Ok(())
    }

    /// Finds the company that a record describes, or creates it, and adds the values of the record
    /// to the facts of this company. If the search depends on companies that are not saved yet,
    /// saves these companies first.
    fn take_company(&mut self, mut record: CompanyRecord) -> rusqlite::Result<()> {
        let suppressed_values = self.writer.screen_company(&mut record)?;
        if self.unsaved.has_record(&record.origin) {
            self.save_all()?;
        }
        if self.unsaved.is_full() {
            let records = self.unsaved.end_group();
            self.save(records)?;
        }
        let unchanged = |effect| Matched::NoChange(ImportOutcome { effect, suppressed_values });
        let remembered = self.writer.remembered(self.source, Kind::Company, &record.origin)?;
        let earlier = match remembered {
            Remembered::Same => {
                self.unsaved.add(unchanged(Effect::Unchanged));
                return Ok(());
            }
            Remembered::Forgotten => {
                self.unsaved.add(unchanged(Effect::Suppressed));
                return Ok(());
            }
            Remembered::Earlier(subject) => Some(subject),
            Remembered::No => None,
        };
        let matching = Matching::beside(self.writer.view(), &self.unsaved);
        let mut held = matching.company(&record, earlier)?;
        if matching.depends_on_unsaved() {
            self.save_all()?;
            held = Matching::new(self.writer.view()).company(&record, earlier)?;
        }
        let mut subject_facts = match held {
            Some(id) => self.writer.subject_facts(id, Kind::Company)?,
            None if self.new_subjects == NewSubjects::Skip => {
                self.unsaved.add(unchanged(Effect::NotHeld));
                return Ok(());
            }
            None => self.writer.new_subject_facts(Kind::Company),
        };
        let is_new = subject_facts.facts.is_empty();
        let claim = SourceClaim::of_company(self.source, &record.origin, self.writer.at);
        assert_company(&mut subject_facts, &claim, &record);
        self.unsaved.add(Matched::Company(Box::new(MatchedCompany {
            record,
            claim,
            subject_facts,
            earlier,
            is_new,
            suppressed_values,
            derived: None,
        })));
        Ok(())
    }

    /// Saves all companies that wait to be saved.
    fn save_all(&mut self) -> rusqlite::Result<()> {
        let records = self.unsaved.take_all();
        self.save(records)
    }

    /// Saves the companies to which `records` were added, and adds the outcome of each record.
    fn save(&mut self, records: Vec<Matched>) -> rusqlite::Result<()> {
        for matched in records {
            let outcome = match matched {
                Matched::NoChange(outcome) => outcome,
                Matched::Company(company) => {
                    self.new_records += 1;
                    let suppressed_values = company.suppressed_values;
                    let effect = self.writer.save_matched(*company)?;
                    ImportOutcome { effect, suppressed_values }
                }
            };
            self.outcomes.push(outcome);
        }
        Ok(())
    }
}
