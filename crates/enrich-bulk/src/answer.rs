//! Answers as they come over the wire, read for a list: was something found, what did it cost,
//! which values go into which column.

use enrich_core::{Credits, Price};
use enrich_wire::Endpoint;
use serde_json::{Map, Value};

/// Fields of answers that say nothing of the row: the echo of what was asked, whether something was
/// found (the status says it), and the balance at that moment.
const LEFT_OUT: [&str; 4] = ["query", "exists", "credit_count", "remaining_credits"];

/// What the answers of an endpoint are like.
#[derive(Clone, Debug)]
pub(crate) struct Answers {
    path: &'static str,
    price: Price,
    /// The fields of every answer.
    fields: Vec<String>,
    /// Those of them that become columns.
    pub(crate) columns: Vec<String>,
}

/// An answer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Reading {
    /// How many items it holds; 0 where nothing was found.
    items: u64,
    /// The values of the columns, in their order.
    pub(crate) values: Vec<Value>,
}

impl Answers {
    pub(crate) fn of(endpoint: &Endpoint) -> Self {
        let fields = endpoint.wire.answer_fields();
        let is_column = |name: &&String| !LEFT_OUT.contains(&name.as_str());
        let columns = fields.iter().filter(is_column).cloned().collect();
        Self { path: endpoint.path, price: endpoint.price, fields, columns }
    }

    /// The endpoint's path.
    pub(crate) fn path(&self) -> &'static str {
        self.path
    }

    /// Reads a body. `None` when it is no answer of this endpoint.
    pub(crate) fn read(&self, body: &[u8]) -> Option<Reading> {
        let mut object: Map<String, Value> = serde_json::from_slice(body).ok()?;
        if let Some(Value::Object(data)) = object.remove("data") {
            object = data;
        }
        let is_whole = self.fields.iter().all(|name| object.contains_key(name));
        let items = is_whole.then(|| self.items(&object))?;
        let values = self.columns.iter().map(|name| object.remove(name).unwrap_or_default());
        Some(Reading { items, values: values.collect() })
    }

    /// What an answer costs: known of one that is told once more, too, which itself is free.
    pub(crate) fn price_of(&self, reading: &Reading) -> Credits {
        self.price.of(reading.items)
    }

    /// The interface says that nothing was found in three ways: `exists`, a confidence of 0, or,
    /// where there is neither, an empty list.
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

impl Reading {
    /// Whether something was found.
    pub(crate) fn is_found(&self) -> bool {
        self.items > 0
    }
}

#[cfg(test)]
mod tests {
    use enrich_core::{
        Ask, Company, Confidence, DirectoryRevision, DomainFacts, Employee, Found, Person,
        Projection, Question, ResponseTemplate, Site, Subject, SubjectId,
    };
    use enrich_text::{Domain, Network};

    use super::*;

    fn read(path: &str, body: &str) -> Option<(bool, u64, String)> {
        let tables = [&enrich_wire_v1::API_VERSION, &enrich_wire_v2::API_VERSION];
        let endpoint = tables.iter().find_map(|table| table.endpoint(path)).unwrap();
        let answers = Answers::of(endpoint);
        let reading = answers.read(body.as_bytes())?;
        let values = serde_json::to_string(&reading.values).unwrap();
        Some((reading.is_found(), answers.price_of(&reading).0, values))
    }

    fn is(found: bool, credits: u64, values: &str) -> Option<(bool, u64, String)> {
        Some((found, credits, values.to_owned()))
    }

    #[test]
    fn each_form_says_whether_something_was_found() {
        let body = r#"{"query":"Q","url":"q.example","credit_count":9,"confidence_level":97}"#;
        assert_eq!(read("/v1/cuf", body), is(true, 1, r#"["q.example",97]"#));
        let body = r#"{"query":"Q","url":"","credit_count":9,"confidence_level":0}"#;
        assert_eq!(read("/v1/cuf", body), is(false, 0, r#"["",0]"#));
        let body = r#"{"status":1,"code":1000,"errors":{},"data":{"exists":true,"domain":"q.example","remaining_credits":1}}"#;
        let path = "/v2/services/name_to_domain";
        assert_eq!(read(path, body), is(true, 1, r#"["q.example"]"#));
        let path = "/v1/lcuf_employee";
        assert_eq!(read(path, r#"{"query":"Q","employees":[]}"#), is(false, 0, "[[]]"));
        assert_eq!(read(path, r#"{"query":"Q","employees":[1,2]}"#), is(true, 1, "[[1,2]]"));
    }

    #[test]
    fn a_list_costs_by_its_items() {
        let body = r#"{"query":"Q","emails":["a","b","c","d","e","f"],"credit_count":9,"confidence_level":97}"#;
        assert_eq!(read("/v1/dte", body).unwrap().1, 2);
    }

    #[test]
    fn what_is_no_answer_of_the_endpoint_is_none() {
        for body in ["", "{}", "[]", r#"{"url":"x"}"#, "<html>", r#"{"data":{"exists":true}}"#] {
            assert_eq!(read("/v1/cuf", body), None, "{body}");
        }
    }

    /// Somebody of each kind, of whom everything is known.
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
        let (echo, asked) = ("Quill".to_owned(), Vec::new());
        let ask = Ask { question, projection, echo, limit: None, asked };
        for table in [&enrich_wire_v1::API_VERSION, &enrich_wire_v2::API_VERSION] {
            for endpoint in table.endpoints {
                let (answers, path) = (Answers::of(endpoint), endpoint.path);
                let mut most = 0;
                let found = everybody().map(|subject| {
                    let (confidence, revision) = (Confidence::FULL, DirectoryRevision(1));
                    Some(Found { subject, confidence, revision })
                });
                for found in found.iter().chain([&None]) {
                    let draft = (endpoint.wire.write)(&ask, found.as_ref());
                    let reading =
                        answers.read(&ResponseTemplate::fill(&draft.body, Credits(9))).unwrap();
                    assert_eq!(reading.items, draft.items, "{path}");
                    assert_eq!(reading.values.len(), answers.columns.len(), "{path}");
                    most = most.max(draft.items);
                }
                assert!(most > 0, "{path} found nothing: it shows nothing here");
            }
        }
    }
}
