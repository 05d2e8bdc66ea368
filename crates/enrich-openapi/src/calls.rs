//! The recorded calls in `fixtures/calls`: requests with their answers. They are the examples in
//! the OpenAPI document.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

use enrich_wire::{Endpoint, Value as Sent, decode};
use serde_json::{Map, Value};

/// The beginning of a placeholder. The recorded calls have a placeholder, such as `{{key}}`, in
/// place of each API key.
const KEY_BEGINS: &str = "{{";

/// A recorded call: its request and its answer.
#[derive(Clone, Debug)]
pub struct Call {
    /// The name of the example, such as `found`, `nothing` or `no_credits`. It is the name of the
    /// recorded file, without its ending.
    pub case: String,
    /// The fields of the request, from JSON or from a form. The API key is left out, because people
    /// send the examples of the documentation page with their own key in a header. If the body
    /// contained a key too, the server could use that key instead.
    pub sent: Value,
    /// The HTTP status code of the answer.
    pub status: u16,
    /// The body of the answer.
    pub answer: Value,
}

/// The recorded calls of each endpoint, by the endpoint's path. The call with the name `found`
/// comes first. The other calls are sorted by their names.
#[derive(Clone, Debug, Default)]
pub struct Calls(BTreeMap<&'static str, Vec<Call>>);

/// Why the recorded calls in a folder cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum UnreadableCall {
    /// The file cannot be read.
    #[error("{} cannot be read", .0.display())]
    File(PathBuf, #[source] io::Error),
    /// The file of a request or of an answer is malformed. The text says why.
    #[error("{}: {}", .0.display(), .1)]
    Malformed(PathBuf, &'static str),
}

impl Calls {
    /// Reads the calls of `endpoints`. The calls of an endpoint are in a subfolder of `folder`, for
    /// example in `v2/name_to_domain` for `/v2/services/name_to_domain`. Each call consists of two
    /// files: a request (`.http`) and its answer (`.snap`).
    ///
    /// # Errors
    ///
    /// When a file cannot be read or is malformed.
    pub fn read(
        folder: &Path,
        endpoints: impl Iterator<Item = &'static Endpoint>,
    ) -> Result<Self, UnreadableCall> {
        let mut calls = BTreeMap::new();
        for endpoint in endpoints {
            let below = endpoint.path.trim_start_matches('/').replace("services/", "");
            calls.insert(endpoint.path, calls_in(&folder.join(below), endpoint.path)?);
        }
        Ok(Self(calls))
    }

    /// Returns the recorded calls of an endpoint.
    pub fn of(&self, endpoint: &Endpoint) -> &[Call] {
        self.0.get(endpoint.path).map(Vec::as_slice).unwrap_or_default()
    }
}

fn calls_in(folder: &Path, path: &str) -> Result<Vec<Call>, UnreadableCall> {
    let failed = |error| UnreadableCall::File(folder.to_owned(), error);
    let mut calls = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let file = entry.map_err(failed)?.path();
        if file.extension().is_some_and(|ending| ending == "http") {
            calls.push(call(&file, path)?);
        }
    }
    calls.sort_by(|one, other| {
        (one.case != "found", &one.case).cmp(&(other.case != "found", &other.case))
    });
    Ok(calls)
}

fn call(file: &Path, path: &str) -> Result<Call, UnreadableCall> {
    let malformed = |what| UnreadableCall::Malformed(file.to_owned(), what);
    let request = text(file)?;
    let (head, body) = request.split_once("\n\n").ok_or_else(|| malformed("it has no body"))?;
    if head.lines().next().and_then(|line| line.strip_prefix("POST ")) != Some(path) {
        return Err(malformed("it is sent to another path"));
    }
    let body = body.trim_end();
    let sent = match body.strip_prefix('{') {
        Some(_) => serde_json::from_str(body).map_err(|_| malformed("its body is not JSON"))?,
        None => fields(body).ok_or_else(|| malformed("its body is no form"))?,
    };

    let snapshot = file.with_extension("snap");
    let malformed = |what| UnreadableCall::Malformed(snapshot.clone(), what);
    let answered = text(&snapshot)?;
    let (head, body) = answered
        .split_once("\nHTTP ")
        .and_then(|(_, answer)| answer.split_once("\n\n"))
        .ok_or_else(|| malformed("it has no answer"))?;
    let status = head.lines().next().and_then(|status| status.parse().ok());
    let answer = body.lines().next().and_then(|line| serde_json::from_str(line).ok());
    Ok(Call {
        case: file.file_stem().and_then(|name| name.to_str()).unwrap_or_default().to_owned(),
        sent: without_key(sent),
        status: status.ok_or_else(|| malformed("it has no status"))?,
        answer: answer.ok_or_else(|| malformed("its body is not JSON"))?,
    })
}

fn text(file: &Path) -> Result<String, UnreadableCall> {
    fs::read_to_string(file).map_err(|error| UnreadableCall::File(file.to_owned(), error))
}

fn fields(form: &str) -> Option<Value> {
    let fields = decode(None, form.as_bytes()).ok()?;
    let text = |value: &Sent| match value {
        Sent::Text(text) => Some(Value::from(text.as_ref())),
        Sent::Integer(_) | Sent::Null | Sent::Other(_) => None,
    };
    let fields: Option<Map<String, Value>> =
        fields.iter().map(|(name, value)| Some((name.to_owned(), text(value)?))).collect();
    fields.map(Value::Object)
}

fn without_key(mut sent: Value) -> Value {
    let is_key = |value: &Value| value.as_str().is_some_and(|text| text.starts_with(KEY_BEGINS));
    if let Some(fields) = sent.as_object_mut() {
        fields.retain(|_, value| !is_key(value));
    }
    sent
}
