//! The domain model of Enrich: questions, prices, and look-ups that are checked, charged and
//! counted.
//!
//! Every look-up has the same form: *find a company, a person or a domain by an identifier or a
//! name; return one of its attributes; and charge the endpoint's price if the attribute exists.*
//! [`Service`] makes look-ups. It uses the stores and the clock only through the traits in
//! [`port`].
//!
//! What this crate does not contain: SQL, HTTP, serde on domain types, reads of the wall clock,
//! and the field names and paths of the HTTP interface.

mod account;
mod api_key;
mod confidence;
mod credits;
mod day;
mod error_chain;
mod id;
mod idempotency;
mod identity;
mod in_flight;
mod label;
mod ledger_entry;
pub mod matching;
mod memory_windows;
mod merge;
mod parent;
pub mod port;
mod question;
mod rate;
mod record;
mod refusal;
pub mod resolution;
mod response_template;
mod service;
mod shortfall;
mod subject;
mod suppressed;

pub use account::{
    Account, AccountChange, AccountId, AccountStatus, KeyId, KeyInfo, KeyLimit, NewKey,
    RateOverride,
};
pub use api_key::{ApiKey, KEY_PREFIX, MalformedKey};
pub use confidence::Confidence;
pub use credits::{Credits, Price};
pub use day::{SECONDS_PER_DAY, day_of};
pub use error_chain::error_chain;
pub use idempotency::{
    IdempotencyKey, IdempotencyRecord, InvalidIdempotencyKey, RequestId, StoredResponse,
};
pub use identity::{Identity, ids_differ};
pub use label::{InvalidLabel, Label};
pub use ledger_entry::{ChargeId, Entry, EntryKind};
pub use memory_windows::MemoryWindows;
pub use merge::{
    Attribute, ClaimedFact, Fact, company_from_facts, domain_facts_from_facts, facts_in_order,
    person_from_facts,
};
pub use parent::{InvalidParent, Parent};
pub use port::clock::Clock;
pub use port::directory::Tenant;
pub use question::{CompanyRef, PersonRef, Projection, Question};
pub use rate::{RateLimit, RateLimitStatus, RatePolicy, RateScope, Window};
pub use record::{
    CompanyRecord, DomainRecord, EmployerRecord, Origin, PersonRecord, Record, SourceName,
};
pub use refusal::{InvalidFields, Needed, Refusal};
pub use response_template::{BodyTemplate, ResponseTemplate};
pub use service::{
    AdmittedCall, Answer, Ask, Call, LookUp, LookUpAnswer, LookUpValue, Outcome, Service,
    ServicePorts, WriteAnswer,
};
pub use subject::{
    Candidate, Company, DirectoryRevision, DomainFacts, Employee, Employer, Found, Person, Site,
    Subject, SubjectId,
};
pub use suppressed::{
    SuppressedSince, SuppressedValues, holds_suppressed, names_suppressed, without_suppressed,
};

/// The type of every time in this crate: UTC with nanoseconds. Code gets the present time only
/// from a [`Clock`].
pub use jiff::Timestamp;
