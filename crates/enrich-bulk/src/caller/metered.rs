//! Calls the metered service in this process, with the same checks, charges and replays as over
//! HTTP.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use enrich_core::{ApiKey, Call, RequestId, Service};
use enrich_wire::RequestRefusal;

use super::directory::wire_fields;
use super::{Asked, Called, Caller, RowFields};
use crate::answer::Answers;

/// Calls the metered service with an API key.
pub struct MeteredCaller {
    service: Arc<Service>,
    asked: Asked,
    answers: Answers,
    key: ApiKey,
}

impl MeteredCaller {
    /// Calls `service` for an endpoint; the account of `key` pays.
    pub fn new(service: Arc<Service>, asked: Asked, key: ApiKey) -> Self {
        Self { service, asked, answers: Answers::of(asked.endpoint), key }
    }
}

#[async_trait]
impl Caller for MeteredCaller {
    async fn call(&self, fields: &RowFields, idempotency: &str) -> Called {
        let Asked { api_version, endpoint } = self.asked;
        let fields = wire_fields(fields);
        let call = Call {
            key: self.key.expose(),
            endpoint: endpoint.path,
            price: endpoint.price,
            request_id: &RequestId::make(self.service.clock.now()),
            idempotency_key: Some(idempotency),
        };
        let outcome = match self.service.admit(call).await {
            Ok(admitted) => {
                let ask = endpoint.read(&fields, admitted.key().country);
                admitted.answer(ask, &endpoint.wire.write).await
            }
            Err(refused) => refused,
        };
        match outcome.result {
            Ok(answer) if !answer.is_found => Called::NotFound,
            // A replay is free; the row paid with its first charge.
            Ok(answer) => Called::found(&self.answers, &answer.body, answer.first_charge),
            Err(refusal) => {
                let refusal = RequestRefusal::from(refusal);
                let (status, _) = (api_version.refuse)(&refusal);
                let after = refusal.retry_after_seconds().map(u64::from).map(Duration::from_secs);
                Called::refused(status, after, refusal.to_string())
            }
        }
    }

    fn is_metered(&self) -> bool {
        true
    }
}
