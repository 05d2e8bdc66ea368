//! Asking the metered service in the same process: the same checks, charges and repeats as over
//! HTTP.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use enrich_core::{ApiKey, RequestId, Service};
use enrich_wire::{Request, respond};

use super::{Asked, Called, Caller, Reply, RowFields};
use crate::answer::Answers;

/// Asks the metered service with somebody's key.
pub struct MeteredCaller {
    service: Arc<Service>,
    asked: Asked,
    answers: Answers,
    key: ApiKey,
}

impl MeteredCaller {
    /// Asks `service` as the endpoint does; whom `key` speaks for pays.
    pub fn new(service: Arc<Service>, asked: Asked, key: ApiKey) -> Self {
        Self { service, asked, answers: Answers::of(asked.endpoint), key }
    }
}

#[async_trait]
impl Caller for MeteredCaller {
    async fn call(&self, fields: &RowFields, idempotency: &str) -> Called {
        let Asked { api_version, endpoint } = self.asked;
        let body = body(fields);
        let request = Request {
            content_type: Some("application/json"),
            api_key: Some(self.key.expose()),
            idempotency_key: Some(idempotency),
            body: &body,
            ..Request::default()
        };
        let request_id = RequestId::make(self.service.clock.now());
        let response = respond(&self.service, api_version, endpoint, &request_id, request).await;
        let header = |name| response.headers.iter().find(|(known, _)| *known == name);
        let seconds = header("retry-after").and_then(|(_, value)| value.parse().ok());
        let reply = Reply {
            status: response.status,
            retry_after: seconds.map(Duration::from_secs),
            used: Some(response.used.0),
            is_replayed: header("idempotency-replayed").is_some(),
            body: &response.body,
        };
        reply.means(&self.answers)
    }

    fn is_metered(&self) -> bool {
        true
    }
}

/// The fields as a JSON object.
pub(crate) fn body(fields: &RowFields) -> Vec<u8> {
    let mut body = Vec::with_capacity(128);
    for (at, (name, value)) in fields.iter().enumerate() {
        body.push(if at == 0 { b'{' } else { b',' });
        for (text, end) in [(*name, b':'), (value.as_str(), b' ')] {
            // Writing a text to memory can't fail.
            let _ = serde_json::to_writer(&mut body, text);
            body.push(end);
        }
    }
    body.extend_from_slice(if fields.is_empty() { b"{}" } else { b"}" });
    body
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_become_an_object() {
        let fields = [("a", "\"x\"\n".to_owned()), ("b", "é".to_owned())];
        let value: serde_json::Value = serde_json::from_slice(&body(&fields)).unwrap();
        assert_eq!(value, serde_json::json!({ "a": "\"x\"\n", "b": "é" }));
        assert_eq!(body(&[]), b"{}");
    }
}
