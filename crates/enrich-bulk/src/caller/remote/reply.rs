//! Parses a server's replies.
//!
//! No header of a reply says whether something was found. The body shows it.
//!
//! The header `X-Credits-Used` gives the charge, except in a replay: an earlier answer that the
//! server repeats for the same idempotency key, at no cost. What the answer cost the first time is
//! computed from the body.

use std::time::Duration;

use enrich_core::{Credits, Price};
use enrich_wire::Endpoint;
use serde_json::{Map, Value};

use crate::answer::Answers;
use crate::caller::CallResult;

/// The answer format and price of an endpoint.
#[derive(Clone, Debug)]
pub(super) struct RemoteAnswers {
    answers: Answers,
    price: Price,
}

/// A server's reply: its status, the headers that this module reads, and its body.
pub(super) struct Reply<'a> {
    pub(super) status: u16,
    pub(super) retry_after: Option<Duration>,
    pub(super) used: Option<u64>,
    pub(super) is_replayed: bool,
    pub(super) body: &'a [u8],
}

impl Reply<'_> {
    pub(super) fn means(&self, answers: &RemoteAnswers) -> CallResult {
        match self.status {
            200 => self.answer(answers),
            status => CallResult::refused(status, self.retry_after, self.message()),
        }
    }

    fn answer(&self, answers: &RemoteAnswers) -> CallResult {
        let Some(answer) = answers.answers.read(self.body) else {
            return CallResult::unreadable(&answers.answers);
        };
        let items = answers.items(&answer);
        if items == 0 {
            return CallResult::NotFound;
        }
        // A replay (an earlier answer, repeated) is free. But the output row shows what the answer
        // cost the first time.
        let used = self.used.filter(|_| !self.is_replayed).map(Credits);
        let credits = used.unwrap_or_else(|| answers.price.of(items));
        CallResult::Found { values: answers.answers.values(answer), credits }
    }

    /// Returns the error message of the reply, or a text with the reply's status if the body has no
    /// message.
    fn message(&self) -> String {
        const MAX_CHARACTERS: usize = 500;
        let body: Value = serde_json::from_slice(self.body).unwrap_or_default();
        match body.get("message").and_then(Value::as_str) {
            Some(message) => message.chars().take(MAX_CHARACTERS).collect(),
            None => format!("the server answered with status {}", self.status),
        }
    }
}

impl RemoteAnswers {
    pub(super) fn of(endpoint: &Endpoint) -> Self {
        Self { answers: Answers::of(endpoint), price: endpoint.price }
    }

    /// Returns the number of items that are charged for an answer; 0 if nothing was found. A field
    /// `exists` or a confidence shows whether something was found. An answer without these fields
    /// contains a list. If this list is empty, nothing was found.
    fn items(&self, answer: &Map<String, Value>) -> u64 {
        let list = || answer.values().filter_map(Value::as_array).map(Vec::len).max();
        let length = || list().unwrap_or_default() as u64;
        let is_found = match (answer.get("exists"), answer.get("confidence_level")) {
            (Some(exists), _) => exists.as_bool() == Some(true),
            (None, Some(confidence)) => confidence.as_u64().is_some_and(|percent| percent > 0),
            (None, None) => length() > 0,
        };
        match self.price {
            _ if !is_found => 0,
            Price::PerAnswer(_) => 1,
            Price::PerItems(_) => length(),
        }
    }
}

#[cfg(test)]
mod tests {
    use enrich_core::{
        Ask, Company, Confidence, DirectoryRevision, DomainFacts, Employee, Found, Person,
        Projection, Question, Site, Subject, SubjectId,
    };
    use enrich_text::{Domain, Network};

    use super::*;

    fn read(path: &str, body: &str) -> (bool, u64) {
        let tables = [&enrich_wire_v1::API_VERSION, &enrich_wire_v2::API_VERSION];
        let endpoint = tables.iter().find_map(|table| table.endpoint(path)).unwrap();
        let answers = RemoteAnswers::of(endpoint);
        let items = answers.items(&answers.answers.read(body.as_bytes()).unwrap());
        (items > 0, answers.price.of(items).0)
    }

    #[test]
    fn each_form_says_whether_something_was_found() {
        let body = r#"{"query":"Q","url":"q.example","credit_count":9,"confidence_level":97}"#;
        assert_eq!(read("/v1/cuf", body), (true, 1));
        let body = r#"{"query":"Q","url":"","credit_count":9,"confidence_level":0}"#;
        assert_eq!(read("/v1/cuf", body), (false, 0));
        let body = r#"{"status":1,"code":1000,"errors":{},"data":{"exists":true,"domain":"q.example","remaining_credits":1}}"#;
        let path = "/v2/services/name_to_domain";
        assert_eq!(read(path, body), (true, 1));
        let path = "/v1/lcuf_employee";
        assert_eq!(read(path, r#"{"query":"Q","employees":[]}"#), (false, 0));
        assert_eq!(read(path, r#"{"query":"Q","employees":[1,2]}"#), (true, 1));
    }

    #[test]
    fn a_list_costs_by_its_items() {
        let body = r#"{"query":"Q","emails":["a","b","c","d","e","f"],"credit_count":9,"confidence_level":97}"#;
        assert_eq!(read("/v1/dte", body).1, 2);
    }

    /// Returns a company, a person and the facts of a domain, each with values for all attributes.
    fn everybody() -> [Subject; 3] {
        let text = |text: &str| Some(text.to_owned());
        let list = |count: usize| (0..count).map(|at| format!("{at}@quill.example")).collect();
        let mut company = Company::named(SubjectId(1), "Quill Ltd".to_owned());
        company.sites.push(Site { domain: "quill.example".to_owned(), country: None });
        for network in Network::ALL {
            company.pages.push((network, "linkedin.com/company/quill".to_owned()));
        }
        (company.emails, company.phones) = (list(7), list(12));
        let employee = Employee { name: "Ada Quill".to_owned(), ..Employee::default() };
        company.employees = vec![employee; 6];
        let person = Person {
            id: SubjectId(2),
            first_name: "Ada".to_owned(),
            last_name: "Quill".to_owned(),
            title: text("Owner"),
            employer: None,
            country: None,
            page: text("linkedin.com/in/ada-quill"),
            emails: list(2),
            phones: list(3),
        };
        let facts = DomainFacts {
            domain: "quill.example".to_owned(),
            ip: text("192.0.2.1"),
            page_rank: text("5.2"),
        };
        [Subject::Company(company), Subject::Person(person), Subject::Domain(facts)]
    }

    #[test]
    fn every_endpoint_says_in_its_body_what_it_found_and_what_that_costs() {
        let name = Domain::parse("quill.example").unwrap();
        let (question, projection) = (Question::Host(name), Projection::Profile);
        let (echo, canonical) = ("Quill".to_owned(), Vec::new());
        let ask = Ask { question, projection, echo, limit: None, canonical };
        for table in [&enrich_wire_v1::API_VERSION, &enrich_wire_v2::API_VERSION] {
            for endpoint in table.endpoints {
                let (answers, path) = (RemoteAnswers::of(endpoint), endpoint.path);
                let mut most = 0;
                let found = everybody().map(|subject| {
                    let (confidence, revision) = (Confidence::FULL, DirectoryRevision(1));
                    Some(Found { subject, confidence, revision })
                });
                for found in found.iter().chain([&None]) {
                    let template = (endpoint.wire.write)(&ask, found.as_ref());
                    let items = template.items;
                    let body = template.body.fill(Credits(9));
                    let answer = answers.answers.read(&body).unwrap();
                    assert_eq!(answers.items(&answer), items, "{path}");
                    let columns = answers.answers.columns.len();
                    assert_eq!(answers.answers.values(answer).len(), columns, "{path}");
                    most = most.max(items);
                }
                assert!(most > 0, "{path} found nothing: it shows nothing here");
            }
        }
    }

    fn reply(status: u16, body: &str) -> CallResult {
        let (retry_after, body) = (Some(Duration::from_secs(7)), body.as_bytes());
        let reply = Reply { status, retry_after, used: Some(1), is_replayed: false, body };
        reply.means(&RemoteAnswers::of(enrich_wire_v1::API_VERSION.endpoint("/v1/cuf").unwrap()))
    }

    #[test]
    fn a_status_says_what_is_to_be_done() {
        let after = Some(Duration::from_secs(7));
        let why = "busy".to_owned();
        for status in [409, 429, 503] {
            let called = reply(status, r#"{"message":"busy"}"#);
            let is_rate_limited = status == 429;
            assert_eq!(called, CallResult::Later { after, is_rate_limited, why: why.clone() });
        }
        assert_eq!(
            reply(400, r#"{"message":"none left"}"#),
            CallResult::OutOfCredits("none left".into())
        );
        assert_eq!(reply(422, r#"{"message":"bad"}"#), CallResult::Invalid("bad".into()));
        assert_eq!(reply(500, r#"{"message":"ours"}"#), CallResult::Failed("ours".into()));
        let said = "the server answered with status 404".to_owned();
        assert_eq!(reply(404, "<html>"), CallResult::Refused(said));
        assert!(matches!(reply(200, "<html>"), CallResult::Refused(_)));
    }

    #[test]
    fn an_answer_told_once_more_says_what_it_had_cost() {
        let body = br#"{"query":"Q","url":"q.example","credit_count":9,"confidence_level":97}"#;
        let endpoint = enrich_wire_v1::API_VERSION.endpoint("/v1/cuf").unwrap();
        for (used, is_replayed) in [(Some(0), true), (Some(1), false), (None, false)] {
            let reply = Reply { status: 200, retry_after: None, used, is_replayed, body };
            let CallResult::Found { credits, .. } = reply.means(&RemoteAnswers::of(endpoint))
            else {
                panic!("not found")
            };
            assert_eq!(credits, Credits(1));
        }
    }
}
