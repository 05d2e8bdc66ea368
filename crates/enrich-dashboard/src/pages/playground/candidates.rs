//! When a call for a company name has found nothing, the page can show candidates: companies that
//! the user may have meant by this name.

use enrich_core::{ApiKey, Candidate, Found, LookUp, LookUpAnswer, Question};
use enrich_wire::{Endpoint, Fields, RequestRefusal, Value};

use crate::page_context::PageContext;

use super::typed;

/// Maximum number of candidates that the page shows.
const SHOWN: u64 = 5;

pub(super) struct ShownCandidates {
    pub(super) said: String,
    pub(super) rows: Vec<CandidateRow>,
}

pub(super) struct CandidateRow {
    pub(super) name: String,
    pub(super) country: &'static str,
    pub(super) domain: String,
    pub(super) confidence: u8,
    pub(super) why: String,
}

/// Looks up the candidates for the company name in the form. `key` is the API key whose account
/// pays. `attempt` is the idempotency key of the call that found nothing; it may be empty.
/// Returns `None` if the form does not ask for a company by its name.
pub(super) async fn of_call(
    context: &PageContext<'_>,
    endpoint: &'static Endpoint,
    key: &ApiKey,
    attempt: &str,
) -> Option<ShownCandidates> {
    let look_up = LookUp::new(question(context, endpoint)?)
        .purpose(Candidate::PURPOSE)
        .price(Candidate::PRICE)
        .limit(SHOWN);
    let look_up = match attempt {
        "" => look_up,
        // The idempotency key `attempt` belongs to the call that found nothing, so this look-up
        // gets another idempotency key.
        attempt => look_up.idempotency_key(format!("{attempt}-candidates"), "candidates"),
    };
    let service = &context.dashboard.service;
    Some(match service.look_up(key, look_up, Found::candidates).await {
        Ok(answer) => ShownCandidates::of(answer),
        Err(refusal) => ShownCandidates {
            said: format!("No candidates: {}", RequestRefusal::from(refusal)),
            rows: Vec::new(),
        },
    })
}

fn question(context: &PageContext<'_>, endpoint: &'static Endpoint) -> Option<Question> {
    let mut fields = Fields::default();
    for field in endpoint.wire.inputs {
        let value = typed(context, field.name);
        if !value.is_empty() {
            fields.insert(field.name.into(), Value::Text(value.into()));
        }
    }
    endpoint.read(&fields, None).ok()?.question.candidates()
}

impl ShownCandidates {
    fn of(answer: LookUpAnswer<Vec<Candidate>>) -> Self {
        let said = match (&answer.value, answer.is_replayed) {
            (None, _) => "No company has a name like this one; nothing was charged.",
            (Some(_), false) => "The name may mean one of these companies; 1 credit was charged.",
            (Some(_), true) => "The same companies as before; nothing was charged again.",
        };
        let rows = answer.value.unwrap_or_default().into_iter().map(|one| CandidateRow {
            name: one.name,
            country: one.country.map_or("", |country| country.name()),
            domain: one.domain.unwrap_or_default(),
            confidence: one.confidence.percent(),
            why: one.why,
        });
        Self { said: said.to_owned(), rows: rows.collect() }
    }
}
