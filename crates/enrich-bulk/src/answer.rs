//! Parses the JSON answers to the rows of a list, and returns the values for the output's columns.

use enrich_wire::Endpoint;
use serde_json::{Map, Value};

/// Answer fields that do not become columns of the output: the input (`query`), the balance, and
/// `exists`. Instead of `exists`, the output has a column `status`.
const LEFT_OUT: [&str; 4] = ["query", "exists", "credit_count", "remaining_credits"];

/// The answer format of an endpoint.
#[derive(Clone, Debug)]
pub(crate) struct Answers {
    path: &'static str,
    /// The names of the fields that every answer of the endpoint has.
    fields: Vec<String>,
    /// The names of the answer fields that become columns of the output.
    pub(crate) columns: Vec<String>,
}

impl Answers {
    pub(crate) fn of(endpoint: &Endpoint) -> Self {
        let fields = endpoint.wire.answer_fields();
        let is_column = |name: &&String| !LEFT_OUT.contains(&name.as_str());
        let columns = fields.iter().filter(is_column).cloned().collect();
        Self { path: endpoint.path, fields, columns }
    }

    pub(crate) fn path(&self) -> &'static str {
        self.path
    }

    /// Parses a response body into the fields of the answer. Returns `None` if the body is not an
    /// answer of this endpoint.
    pub(crate) fn read(&self, body: &[u8]) -> Option<Map<String, Value>> {
        let mut object: Map<String, Value> = serde_json::from_slice(body).ok()?;
        if let Some(Value::Object(data)) = object.remove("data") {
            object = data;
        }
        self.fields.iter().all(|name| object.contains_key(name)).then_some(object)
    }

    /// Returns the values of the answer's columns, in the order of `columns`.
    pub(crate) fn values(&self, mut answer: Map<String, Value>) -> Vec<Value> {
        let value = |name: &String| answer.remove(name).unwrap_or_default();
        self.columns.iter().map(value).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_columns_of_both_forms_are_read() {
        let read = |path: &str, body: &str| {
            let tables = [&enrich_wire_v1::API_VERSION, &enrich_wire_v2::API_VERSION];
            let endpoint = tables.iter().find_map(|table| table.endpoint(path)).unwrap();
            let answers = Answers::of(endpoint);
            let values = answers.values(answers.read(body.as_bytes()).unwrap());
            serde_json::to_string(&values).unwrap()
        };
        let body = r#"{"query":"Q","url":"q.example","credit_count":9,"confidence_level":97}"#;
        assert_eq!(read("/v1/cuf", body), r#"["q.example",97]"#);
        let body = r#"{"status":1,"code":1000,"errors":{},"data":{"exists":true,"domain":"q.example","remaining_credits":1}}"#;
        assert_eq!(read("/v2/services/name_to_domain", body), r#"["q.example"]"#);
    }

    #[test]
    fn what_is_no_answer_of_the_endpoint_is_none() {
        let answers = Answers::of(enrich_wire_v1::API_VERSION.endpoint("/v1/cuf").unwrap());
        for body in ["", "{}", "[]", r#"{"url":"x"}"#, "<html>", r#"{"data":{"exists":true}}"#] {
            assert_eq!(answers.read(body.as_bytes()), None, "{body}");
        }
    }
}
