//! Imports records into a directory (the look-up data), and looks up companies and people in it.

use enrich_core::port::importer::{Atomic, Effect, ImportOptions, ImportOutcome, NewSubjects};
use enrich_core::{
    Company, CompanyRef, Found, Person, PersonRef, Projection, Question, Record, SourceName,
};

use crate::contract::{Ports, noon};

/// Returns the options of a load (an import) of records from `source` at the time [`noon`]. The
/// store chooses when it commits.
pub fn load_from(source: &str) -> ImportOptions {
    ImportOptions {
        source: source_name(source),
        file: None,
        terms: None,
        at: noon(),
        atomic: Atomic::InParts,
        new_subjects: NewSubjects::Add,
    }
}

/// Parses the name of a source. Panics if the name is invalid.
pub fn source_name(name: &str) -> SourceName {
    SourceName::new(name).expect("a source's name")
}

/// Imports records as one batch. Returns the result of each record.
pub async fn take(ports: &Ports, source: &str, records: Vec<Record>) -> Vec<ImportOutcome> {
    let mut session = ports.importer.begin(load_from(source)).await.expect("a load begins");
    let taken = session.import_batch(records).await.expect("a batch is taken");
    session.finish().await.expect("a load ends");
    taken
}

/// Imports records as one batch. Returns the effect of each record.
pub async fn load(ports: &Ports, source: &str, records: Vec<Record>) -> Vec<Effect> {
    take(ports, source, records).await.into_iter().map(|taken| taken.effect).collect()
}

/// Looks up `question` in the directory (the look-up data). Returns `None` if nothing is found.
pub async fn ask(ports: &Ports, question: Question) -> Option<Found> {
    ports.directory.find(&question, Projection::Profile).await.expect("the directory answers")
}

/// Looks up a company. Returns `None` if the directory does not find it.
pub async fn company_of(ports: &Ports, company: CompanyRef) -> Option<Company> {
    let found = ask(ports, Question::Company(company)).await?;
    Some(found.company().expect("a company").clone())
}

/// Looks up a person. Returns `None` if the directory does not find the person.
pub async fn person_of(ports: &Ports, person: PersonRef) -> Option<Person> {
    let found = ask(ports, Question::Person(person)).await?;
    Some(found.person().expect("a person").clone())
}
