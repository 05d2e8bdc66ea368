//! A call of the service, and its correct answer.

use anyhow::{Context, ensure};
use serde_json::{Value, json};

use crate::wrk::Halves;
use enrich_testkit::http::Reply;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The call finds something and is charged.
    Found,
    /// The call finds nothing and is free.
    Missed,
    /// The call repeats an earlier call with the same `Idempotency-Key`. The service sends the
    /// stored answer of the earlier call again, free of charge.
    Replayed,
}

/// A request to the service, and its correct answer.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) path: &'static str,
    pub(crate) inputs: Vec<(&'static str, String)>,
    /// Values that the answer must have, each with its JSON Pointer (RFC 6901).
    pub(crate) values: Vec<(&'static str, Value)>,
}

impl Call {
    pub(crate) fn new(path: &'static str, input: &'static str, text: impl Into<String>) -> Self {
        Self { path, inputs: vec![(input, text.into())], values: Vec::new() }
    }

    pub(crate) fn with(mut self, input: &'static str, text: impl Into<String>) -> Self {
        self.inputs.push((input, text.into()));
        self
    }

    /// Adds a value that the answer must have at the JSON Pointer in `place`.
    pub(crate) fn answers(mut self, place: &'static str, value: impl Into<Value>) -> Self {
        self.values.push((place, value.into()));
        self
    }

    /// Returns the request in two parts: before and after the API key. The load generator puts the
    /// key of any account between them. In API version 1, the key is in the body. So
    /// `Content-Length` includes the length of a key, which is `key_bytes` for every key. In
    /// version 2, the key is in a header.
    pub(crate) fn halves(&self, key_bytes: usize, idempotency_key: Option<&str>) -> Halves {
        let quoted = |text: &str| Value::from(text).to_string();
        let inputs: Vec<String> = self
            .inputs
            .iter()
            .map(|(name, text)| format!("{}:{}", quoted(name), quoted(text)))
            .collect();
        let inputs = inputs.join(",");
        let repeat = idempotency_key.map(|key| format!("\r\nIdempotency-Key: {key}"));
        let head = format!(
            "POST {} HTTP/1.1{}\r\nHost: localhost\r\nContent-Type: application/json",
            self.path,
            repeat.unwrap_or_default()
        );
        if self.path.starts_with("/v2/") {
            let body = format!("{{{inputs}}}");
            let before = format!("{head}\r\nContent-Length: {}\r\nX-Api-Key: ", body.len());
            return Halves { before, behind: format!("\r\n\r\n{body}") };
        }
        let (opening, behind) = ("{\"apiKey\":\"", format!("\",{inputs}}}"));
        let length = opening.len() + key_bytes + behind.len();
        let before = format!("{head}\r\nContent-Length: {length}\r\n\r\n{opening}");
        Halves { before, behind }
    }

    pub(crate) fn request(&self, key: &str, idempotency_key: Option<&str>) -> Vec<u8> {
        let Halves { before, behind } = self.halves(key.len(), idempotency_key);
        [before, key.to_owned(), behind].concat().into_bytes()
    }

    /// Checks the service's answer to this call: its status, its values and its cost. `price` is
    /// the cost in credits if something is found.
    pub(crate) fn check(&self, answer: &Reply, outcome: Outcome, price: u64) -> anyhow::Result<()> {
        let text = || {
            let body = &answer.body;
            format!("{} {:?} was answered {} {body}", self.path, self.inputs, answer.status)
        };
        ensure!(answer.status == 200, "{}", text());
        let body = answer.json();
        for (place, value) in &self.values {
            let there = body.pointer(place);
            ensure!(there == Some(value), "{}, where {place} should be {value}", text());
        }
        let used = if outcome == Outcome::Found { price } else { 0 };
        let counted =
            answer.header("x-credits-used").context("an answer without X-Credits-Used")?;
        ensure!(counted == used.to_string(), "{} for {counted} credits, not {used}", text());
        let is_replayed = answer.header("idempotency-replayed") == Some("true");
        ensure!(
            is_replayed == (outcome == Outcome::Replayed),
            "{}, replayed: {is_replayed}",
            text()
        );
        Ok(())
    }
}

/// Returns a call of `/v1/dtc`, which finds a company by its domain. The answer must have the
/// company's name.
pub(crate) fn domain_to_name(domain: &str, name: &str) -> Call {
    Call::new("/v1/dtc", "companyWebsite", domain).answers("/query", domain).answers("/url", name)
}

/// Returns a call of `/v1/dtc` for a domain that no company has.
pub(crate) fn unknown_domain(domain: &str) -> Call {
    domain_to_name(domain, "").answers("/confidence_level", json!(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(call: &Call, key: &str, idempotency_key: Option<&str>) -> String {
        String::from_utf8(call.request(key, idempotency_key)).unwrap()
    }

    #[test]
    fn version_1_has_the_key_in_its_body() {
        let request = text(&domain_to_name("é.example", "É"), "secret", None);
        let (head, body) = request.split_once("\r\n\r\n").unwrap();
        assert_eq!(body, r#"{"apiKey":"secret","companyWebsite":"é.example"}"#);
        assert!(head.starts_with("POST /v1/dtc HTTP/1.1\r\n"), "{head}");
        assert!(head.ends_with(&format!("Content-Length: {}", body.len())), "{head}");
    }

    #[test]
    fn version_2_has_the_key_in_a_header() {
        let call = Call::new("/v2/services/domain_to_name", "domain", "quill.example");
        let request = text(&call, "secret", Some("once"));
        let (head, body) = request.split_once("\r\n\r\n").unwrap();
        assert_eq!(body, r#"{"domain":"quill.example"}"#);
        assert!(head.ends_with("\r\nX-Api-Key: secret"), "{head}");
        assert!(head.contains(&format!("\r\nContent-Length: {}\r\n", body.len())), "{head}");
        assert!(head.contains("\r\nIdempotency-Key: once\r\n"), "{head}");
    }
}
