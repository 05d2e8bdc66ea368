//! Answers the rows of a list through the metered service in this process. The service checks and
//! charges each call, and replays the answer of a repeated call, exactly as over HTTP.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use enrich_core::{ApiKey, Candidate, Found, LookUp, Question, Refusal, RequestId, Service};
use enrich_wire::RequestRefusal;

use super::directory::wire_fields;
use super::{CallResult, Caller, RowFields, Target};
use crate::answer::Answers;

/// Calls the metered service with an API key.
pub struct MeteredCaller {
    service: Arc<Service>,
    target: Target,
    answers: Answers,
    key: ApiKey,
}

impl MeteredCaller {
    /// Returns a caller of `service` for one endpoint. The account of `key` pays.
    pub fn new(service: Arc<Service>, target: Target, key: ApiKey) -> Self {
        Self { service, target, answers: Answers::of(target.endpoint), key }
    }
}

impl MeteredCaller {
    fn refused(&self, refusal: Refusal) -> CallResult {
        let refusal = RequestRefusal::from(refusal);
        let (status, _) = (self.target.api_version.refuse)(&refusal);
        let after = refusal.retry_after_seconds().map(u64::from).map(Duration::from_secs);
        CallResult::refused(status, after, refusal.to_string())
    }
}

#[async_trait]
impl Caller for MeteredCaller {
    async fn call(&self, fields: &RowFields, idempotency: &str) -> CallResult {
        let endpoint = self.target.endpoint;
        let fields = wire_fields(fields);
        let request_id = RequestId::make(self.service.clock.now());
        let (service, key) = (&self.service, self.key.expose());
        let outcome = endpoint.call(service, key, &request_id, Some(idempotency), &fields).await;
        match outcome.result {
            Ok(answer) if !answer.is_found => CallResult::NotFound,
            // A replay (the stored answer of an earlier call) is free. Even so, the result of the
            // row shows the credits that the earlier call cost.
            Ok(answer) => CallResult::found(&self.answers, &answer.body, answer.first_charge),
            Err(refusal) => self.refused(refusal),
        }
    }

    async fn candidates(&self, asked: &Question, most: usize, idempotency: &str) -> CallResult {
        let look_up = LookUp::new(asked.clone())
            .purpose(Candidate::PURPOSE)
            .price(Candidate::PRICE)
            .limit(most as u64)
            .idempotency_key(idempotency, "candidates");
        match self.service.look_up(&self.key, look_up, Found::candidates).await {
            Ok(answer) => {
                // A replay (the stored answer of an earlier call) is free. Even so, the result of
                // the row shows the credits that the earlier call cost.
                let list = answer.value.unwrap_or_default();
                let credits = Candidate::PRICE.of(list.len() as u64);
                CallResult::of_candidates(&list, most, credits)
            }
            Err(refusal) => self.refused(refusal),
        }
    }

    fn is_metered(&self) -> bool {
        true
    }
}
