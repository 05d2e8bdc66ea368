//! The playground: it shows an endpoint's fields and price, and makes a real call, which is
//! metered and charged. The browser may send a form twice, for example after a double click. So
//! each form contains an idempotency key, and the call is charged only once.

mod candidates;

use askama::Template;
use enrich_bulk::{Target, can_have_candidates};
use enrich_core::RequestId;
use enrich_sign_in::Token;
use enrich_wire::{CallOutcome, Endpoint, Request, respond};
use serde_json::Value;

use crate::curl;
use crate::fault::Fault;
use crate::http::{Call, Response};
use crate::page_context::{Frame, OwnerContext, PageContext, render_page};
use crate::shown::Number;

use super::EndpointChoice;
use super::endpoint_choices;
use super::keys::{KeyChoice, active_keys, key_choices};
use candidates::ShownCandidates;

const NO_KEY: &str = "No call was made: choose an active API key of this account.";

#[derive(Template)]
#[template(path = "playground.html")]
struct PlaygroundPage {
    frame: Frame,
    choices: Vec<EndpointChoice>,
    path: &'static str,
    title: &'static str,
    price: String,
    fields: Vec<FieldRow>,
    /// Whether the box for candidates (companies that a name may mean) is ticked; `None` if the
    /// endpoint has no candidates.
    candidates: Option<bool>,
    keys: Vec<KeyChoice>,
    attempt: String,
    outcome: Option<Outcome>,
    fault: Option<&'static str>,
}

struct FieldRow {
    name: &'static str,
    meaning: &'static str,
    is_required: bool,
    value: String,
}

/// The result of a call, as the page shows it.
struct Outcome {
    curl: String,
    status: u16,
    said: String,
    request_id: String,
    body: String,
    candidates: Option<ShownCandidates>,
}

pub(crate) async fn show(context: &OwnerContext<'_>) -> Result<Response, Fault> {
    let chosen = chosen(context, context.query.text("endpoint")).ok_or(Fault::NoSuchPage)?;
    shown(context, chosen, Ok(None)).await
}

/// Makes the call with the API key that the user has selected. The account pays for the call.
pub(crate) async fn call(context: &OwnerContext<'_>) -> Result<Response, Fault> {
    let path = context.form.text("endpoint");
    let chosen = chosen(context, path).filter(|_| !path.is_empty()).ok_or(Fault::NoSuchPage)?;
    let accounts = &context.dashboard.service.accounts;
    let wanted = context.form.text("key");
    let keys = active_keys(context).await?;
    let Some(key) = keys.iter().find(|key| key.id.to_string() == wanted) else {
        return shown(context, chosen, Err(NO_KEY)).await;
    };
    let Some(secret) = accounts.reveal(key.id).await? else {
        return shown(context, chosen, Err(NO_KEY)).await;
    };
    let body = body(context, chosen.endpoint);
    let attempt = context.form.text("attempt");
    let request = Request {
        content_type: Some("application/json"),
        api_key: Some(secret.expose()),
        idempotency_key: (!attempt.is_empty()).then_some(attempt),
        body: body.as_bytes(),
        ..Request::default()
    };
    let request_id = RequestId::make(context.now);
    let service = &context.dashboard.service;
    let (response, record) =
        respond(service, chosen.api_version, chosen.endpoint, &request_id, request).await;
    let candidates = if record.outcome.is_miss() && context.form.has("candidates") {
        candidates::of_call(context, chosen.endpoint, &secret, attempt).await
    } else {
        None
    };
    let address = context.dashboard.address(context.request);
    let cut_key = format!("{}…", key.hint);
    let outcome = Outcome {
        curl: curl::command(&address, chosen.api_version, chosen.endpoint, &cut_key, &body),
        status: response.status,
        said: said(&record.outcome),
        request_id: request_id.to_string(),
        body: indented(&response.body),
        candidates,
    };
    let shown = shown(context, chosen, Ok(Some(outcome))).await?;
    let call = Call { path: chosen.endpoint.path, status: response.status, record };
    Ok(Response { call: Some(call), ..shown })
}

/// Returns the endpoint at a path; `None` if there is none. For an empty path, returns the first
/// endpoint.
fn chosen(context: &PageContext<'_>, path: &str) -> Option<Target> {
    let mut all = Target::all(context.dashboard.api_versions);
    all.find(|target| path.is_empty() || target.endpoint.path == path)
}

/// Returns the filled-in fields as a JSON object, in the order of the endpoint's fields.
fn body(context: &PageContext<'_>, endpoint: &Endpoint) -> String {
    let typed = endpoint.wire.inputs.iter().map(|field| (field.name, typed(context, field.name)));
    let pairs = typed
        .filter(|(_, value)| !value.is_empty())
        .map(|(name, value)| format!("{}:{}", Value::from(name), Value::from(value)));
    format!("{{{}}}", pairs.collect::<Vec<_>>().join(","))
}

fn typed<'a>(context: &'a PageContext<'_>, field: &str) -> &'a str {
    context.form.text(&format!("field.{field}"))
}

/// Returns a sentence that describes the result of the call.
fn said(outcome: &CallOutcome) -> String {
    match outcome {
        CallOutcome::Found { used } => {
            let credits = if used.0 == 1 { "credit was" } else { "credits were" };
            format!("Found; {} {credits} charged.", Number(used.0))
        }
        CallOutcome::NotFound => "Nothing found; nothing was charged.".to_owned(),
        CallOutcome::Replayed { .. } => {
            "The same answer as before; nothing was charged again.".to_owned()
        }
        CallOutcome::Refused(_) => "Refused; nothing was charged.".to_owned(),
        CallOutcome::Unknown(_) => {
            "No answer; it is not known yet whether this call was charged. See the calls of this \
             account in a minute."
                .to_owned()
        }
    }
}

/// Returns JSON with indents and line breaks. A body that is not JSON is returned unchanged.
fn indented(body: &[u8]) -> String {
    let value: Result<Value, _> = serde_json::from_slice(body);
    let text = value.and_then(|value| serde_json::to_string_pretty(&value));
    text.unwrap_or_else(|_| String::from_utf8_lossy(body).into_owned())
}

async fn shown(
    context: &OwnerContext<'_>,
    Target { endpoint, .. }: Target,
    outcome: Result<Option<Outcome>, &'static str>,
) -> Result<Response, Fault> {
    let (outcome, fault) = match outcome {
        Ok(outcome) => (outcome, None),
        Err(fault) => (None, Some(fault)),
    };
    let keys = active_keys(context).await?;
    let field = |field: &enrich_wire::Field| FieldRow {
        name: field.name,
        meaning: field.meaning,
        is_required: field.is_required,
        value: typed(context, field.name).to_owned(),
    };
    let template = PlaygroundPage {
        choices: endpoint_choices(context, endpoint.path),
        path: endpoint.path,
        title: endpoint.title,
        price: endpoint.price.to_string(),
        fields: endpoint.wire.inputs.iter().map(field).collect(),
        candidates: can_have_candidates(endpoint).then(|| context.form.has("candidates")),
        keys: key_choices(&keys, context.form.text("key")),
        attempt: Token::generate().map_err(Fault::failed)?.expose().to_owned(),
        outcome,
        fault,
        frame: context.frame("/account/playground").await?,
    };
    render_page(if fault.is_some() { 422 } else { 200 }, &template)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_indented_in_its_own_order() {
        let shown = indented(br#"{"query":"a","url":"b","credit_count":1}"#);
        assert_eq!(shown, "{\n  \"query\": \"a\",\n  \"url\": \"b\",\n  \"credit_count\": 1\n}");
        assert_eq!(indented(b"no json"), "no json");
    }
}
