//! The domain of Enrich: what can be asked, what an answer costs, and how a look-up is metered.
//!
//! A look-up is always the same sentence: *find a subject by an identifier, return one of its
//! attributes, charge what the endpoint's rule says if there is one.* [`Service::answer`] is that
//! sentence; everything it needs from outside comes through the ports in [`port`].
//!
//! What is not here: SQL, HTTP, serde on domain types, the wall clock, the name of any field or
//! path of the interface.

mod account;
mod api_key;
mod clock_watch;
mod confidence;
mod credits;
mod fair_queue;
mod id;
mod identity;
mod in_flight;
mod label;
mod ledger_entry;
pub mod matching;
mod memory_windows;
mod merge;
pub mod port;
mod question;
mod rate;
mod record;
mod refusal;
mod repeat;
mod response_template;
mod service;
mod shortfall;
mod sign_in;
mod subject;
mod suppressed;

pub use account::{
    Account, AccountChange, AccountId, AccountStatus, KeyId, KeyInfo, KeyLimit, NewKey,
    RateOverride,
};
pub use api_key::{ApiKey, KEY_PREFIX, MalformedKey};
pub use clock_watch::ClockWatch;
pub use confidence::Confidence;
pub use credits::{Credits, Price};
pub use fair_queue::{FairQueue, Pushed, QueueLimits};
pub use identity::Identity;
pub use label::{InvalidLabel, Label};
pub use ledger_entry::{ChargeId, Entry, EntryKind};
pub use memory_windows::MemoryWindows;
pub use merge::{Attribute, Fact, company_from_facts, domain_facts_from_facts, person_from_facts};
pub use port::clock::Clock;
pub use port::directory::Tenant;
pub use question::{CompanyRef, PersonRef, Projection, Question};
pub use rate::{RateLimit, RateLimitStatus, RatePolicy, RateScope, Window};
pub use record::{
    CompanyRecord, DomainRecord, EmployerRecord, Origin, PersonRecord, Record, SourceName,
};
pub use refusal::{InvalidFields, Needed, Refusal};
pub use repeat::{
    IdempotencyKey, IdempotencyRecord, InvalidIdempotencyKey, RequestId, StoredResponse,
};
pub use response_template::{BALANCE_HERE, ResponseTemplate};
pub use service::{
    Answer, Ask, Call, LookUp, LookUpAnswer, LookUpValue, Outcome, Service, ServicePorts,
};
pub use sign_in::{ListedSession, MalformedToken, PasswordHash, Session, SessionId, SignIn, Token};
pub use subject::{
    Company, DirectoryRevision, DomainFacts, Employee, Employer, Found, Person, Site, Subject,
    SubjectId,
};
pub use suppressed::{SuppressedSince, SuppressedValues, holds_suppressed};

/// The instant type of every port: UTC, nanoseconds, from [`Clock`] alone.
pub use jiff::Timestamp;
