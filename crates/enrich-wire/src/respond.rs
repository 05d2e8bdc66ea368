//! Handles a call: takes the bytes of the request, and returns the bytes of the response.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use enrich_core::{
    Answer, Credits, KeyInfo, Outcome, RateLimitStatus, Refusal, RequestId, Service,
};

use crate::body;
use crate::endpoint::{ApiVersion, Endpoint, KeyPlace};
use crate::input::{Fields, Value};
use crate::refusal::RequestRefusal;

/// The parts of an HTTP request that an endpoint needs. If a header is not UTF-8, the HTTP server
/// must replace its invalid bytes by replacement characters, which no parser accepts. `Debug` shows
/// neither keys nor inputs.
#[derive(Clone, Copy, Default)]
pub struct Request<'a> {
    /// The header `Content-Type`.
    pub content_type: Option<&'a str>,
    /// The header `x-api-key`.
    pub api_key: Option<&'a str>,
    /// The header `Authorization`. Only the scheme `Bearer` is accepted.
    pub authorization: Option<&'a str>,
    /// The header `Idempotency-Key`.
    pub idempotency_key: Option<&'a str>,
    /// The body. It has at most [`crate::MAX_BODY_BYTES`] bytes.
    pub body: &'a [u8],
}

impl fmt::Debug for Request<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Request({} bytes)", self.body.len())
    }
}

/// An HTTP response.
#[derive(Debug)]
pub struct Response {
    /// The status.
    pub status: u16,
    /// The headers, with names in lower case. Headers that the HTTP layer adds itself are not
    /// included.
    pub headers: Vec<(&'static str, Cow<'static, str>)>,
    /// The body, which is JSON.
    pub body: Vec<u8>,
}

/// What a server counts and logs of a call.
#[derive(Debug)]
pub struct CallRecord {
    /// How the call ended.
    pub outcome: CallOutcome,
    /// The key of the call, if the key was identified.
    pub key: Option<Arc<KeyInfo>>,
    /// The rate-limit status of the key or of its account, if the request was counted.
    pub rate_limit_status: Option<RateLimitStatus>,
}

/// How a call ended.
#[derive(Debug)]
pub enum CallOutcome {
    /// Something was found.
    Found {
        /// The credits that were charged.
        used: Credits,
    },
    /// Nothing was found, so nothing was charged.
    NotFound,
    /// The stored answer of an earlier call was sent again. Nothing was charged for it.
    Replayed {
        /// Whether the answer says that something was found.
        is_found: bool,
    },
    /// The call was refused, and nothing was charged.
    Refused(RequestRefusal),
    /// It is not known whether the call was charged. The value is the refusal that says so.
    Unknown(RequestRefusal),
}

impl CallOutcome {
    fn of_refusal(refusal: RequestRefusal) -> Self {
        match refusal {
            RequestRefusal::Service(Refusal::OutcomeUnknown(_)) => Self::Unknown(refusal),
            refusal => Self::Refused(refusal),
        }
    }

    /// Returns the credits that are known to be charged.
    pub fn used(&self) -> Credits {
        match self {
            Self::Found { used } => *used,
            Self::NotFound | Self::Replayed { .. } | Self::Refused(_) | Self::Unknown(_) => {
                Credits::ZERO
            }
        }
    }

    /// Whether the answer says that nothing was found.
    pub fn is_miss(&self) -> bool {
        match self {
            Self::NotFound | Self::Replayed { is_found: false } => true,
            Self::Found { .. }
            | Self::Replayed { is_found: true }
            | Self::Refused(_)
            | Self::Unknown(_) => false,
        }
    }

    /// Returns why the call was not answered; `None` if it was answered.
    pub fn refusal(&self) -> Option<&RequestRefusal> {
        match self {
            Self::Refused(refusal) | Self::Unknown(refusal) => Some(refusal),
            Self::Found { .. } | Self::NotFound | Self::Replayed { .. } => None,
        }
    }
}

/// Handles a request to `endpoint`, and returns the response.
pub async fn respond(
    service: &Service,
    api_version: &ApiVersion,
    endpoint: &Endpoint,
    request_id: &RequestId,
    request: Request<'_>,
) -> (Response, CallRecord) {
    let fields = match body::decode(request.content_type, request.body) {
        Ok(fields) => fields,
        Err(fault) => {
            let undecodable = RequestRefusal::Undecodable(fault.to_string());
            return refuse(api_version, undecodable, request_id);
        }
    };
    let place = api_version.key_place;
    let Some(key) = sent_key(place, &fields, &request) else {
        let missing = RequestRefusal::MissingKey { place: place.in_words() };
        return refuse(api_version, missing, request_id);
    };
    let outcome = endpoint.call(service, key, request_id, request.idempotency_key, &fields).await;
    let Outcome { result, key, rate_limit_status, remaining } = outcome;
    match result {
        Ok(answer) => {
            let outcome = match answer {
                Answer { is_replayed: true, is_found, .. } => CallOutcome::Replayed { is_found },
                Answer { is_found: true, used, .. } => CallOutcome::Found { used },
                Answer { is_found: false, .. } => CallOutcome::NotFound,
            };
            let record = CallRecord { outcome, key, rate_limit_status };
            let mut headers = headers(&record, remaining, request_id);
            if answer.is_replayed {
                headers.push(("idempotency-replayed", "true".into()));
            }
            (Response { status: 200, headers, body: answer.body }, record)
        }
        Err(refusal) => {
            let caller = (key, rate_limit_status);
            refused(api_version, refusal.into(), caller, remaining, request_id)
        }
    }
}

/// Refuses a request that does not reach an endpoint, for example because its path is unknown or
/// its body cannot be parsed.
pub fn refuse(
    api_version: &ApiVersion,
    refusal: RequestRefusal,
    request_id: &RequestId,
) -> (Response, CallRecord) {
    refused(api_version, refusal, (None, None), None, request_id)
}

fn refused(
    api_version: &ApiVersion,
    refusal: RequestRefusal,
    (key, rate_limit_status): (Option<Arc<KeyInfo>>, Option<RateLimitStatus>),
    remaining: Option<Credits>,
    request_id: &RequestId,
) -> (Response, CallRecord) {
    let (status, body) = (api_version.refuse)(&refusal);
    let retry_after = refusal.retry_after_seconds();
    let allow = match refusal {
        RequestRefusal::WrongMethod { allow } => Some(allow),
        _ => None,
    };
    let outcome = CallOutcome::of_refusal(refusal);
    let record = CallRecord { outcome, key, rate_limit_status };
    let mut headers = headers(&record, remaining, request_id);
    headers.extend(retry_after.map(|seconds| ("retry-after", seconds.to_string().into())));
    headers.extend(allow.map(|allow| ("allow", allow.into())));
    (Response { status, headers, body }, record)
}

/// Returns the headers of a response: the headers that every response has, and the headers for the
/// balance and the rate limit, if these values are known.
fn headers(
    record: &CallRecord,
    remaining: Option<Credits>,
    request_id: &RequestId,
) -> Vec<(&'static str, Cow<'static, str>)> {
    let mut headers = Vec::with_capacity(8);
    headers.push(("content-type", Cow::Borrowed("application/json")));
    headers.push(("cache-control", Cow::Borrowed("no-store")));
    headers.push(("x-request-id", request_id.as_str().to_owned().into()));
    headers.push(("x-credits-used", number(record.outcome.used().0)));
    headers.extend(remaining.map(|left| ("x-credits-remaining", number(left.0))));
    if let Some(status) = record.rate_limit_status {
        let (requests, seconds) = (status.limit.requests(), status.limit.window_seconds());
        headers.push(("ratelimit-policy", window("q", requests, "w", seconds)));
        headers.push(("ratelimit", window("r", status.remaining, "t", status.reset_seconds)));
    }
    headers
}

/// Returns the API key of a request. Looks first in `place`, then in the other of the two places
/// (body or header `x-api-key`), and then in the header `Authorization`. If the value in the body
/// is not a text, it counts as an invalid key.
fn sent_key<'a>(place: KeyPlace, fields: &'a Fields<'_>, request: &Request<'a>) -> Option<&'a str> {
    let in_body = match fields.get("apiKey") {
        None | Some(Value::Null) => None,
        Some(Value::Text(text)) => Some(text.as_ref()),
        Some(Value::Integer(_) | Value::Other(_)) => Some("not a text"),
    };
    let in_body = in_body.filter(|text| !text.trim().is_empty());
    let header = request.api_key.filter(|text| !text.trim().is_empty());
    let key = match place {
        KeyPlace::Body => in_body.or(header),
        KeyPlace::Header => header.or(in_body),
    };
    key.or_else(|| request.authorization.and_then(bearer_token))
}

/// Returns the token of `Authorization: Bearer` (RFC 6750, section 2.1). The scheme may be in upper
/// or lower case.
fn bearer_token(authorization: &str) -> Option<&str> {
    let (scheme, token) = authorization.trim().split_once([' ', '\t'])?;
    scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
}

fn number(number: u64) -> Cow<'static, str> {
    itoa::Buffer::new().format(number).to_owned().into()
}

/// Returns the value of a rate-limit header: the name of the policy, `default`, and two parameters.
/// An example is `"default";q=100;w=60`. The syntax comes from the IETF draft about rate-limit
/// headers.
fn window(name: &str, value: u32, other: &str, other_value: u32) -> Cow<'static, str> {
    let (mut digits, mut other_digits) = (itoa::Buffer::new(), itoa::Buffer::new());
    let (value, other_value) = (digits.format(value), other_digits.format(other_value));
    ["\"default\";", name, "=", value, ";", other, "=", other_value].concat().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_shows_neither_keys_nor_inputs() {
        let request = Request {
            content_type: Some("application/json"),
            api_key: Some("enr_live_secret"),
            authorization: Some("Bearer enr_live_secret"),
            idempotency_key: Some("order-4711"),
            body: b"email=ada@quill.example",
        };
        assert_eq!(format!("{request:?}"), "Request(23 bytes)");
    }

    #[test]
    fn a_refused_call_is_free_unless_its_outcome_is_unknown() {
        let refused = CallOutcome::of_refusal(Refusal::NotCharging.into());
        assert!(matches!(refused, CallOutcome::Refused(_)), "{refused:?}");
        let unknown = CallOutcome::of_refusal(Refusal::OutcomeUnknown("lost".into()).into());
        assert!(matches!(unknown, CallOutcome::Unknown(_)), "{unknown:?}");
        assert!(unknown.refusal().is_some());
    }

    fn fields(value: Option<Value>) -> Fields {
        let mut fields = Fields::default();
        if let Some(value) = value {
            fields.insert("apiKey".into(), value);
        }
        fields
    }

    fn with_header<'a>(api_key: Option<&'a str>, authorization: &'a str) -> Request<'a> {
        Request { api_key, authorization: Some(authorization), ..Request::default() }
    }

    /// Returns the key that the server uses if `fields` are the fields of the body, the header
    /// `x-api-key` has the value `header`, and the header `Authorization` has the key `bearer`.
    fn sent<'a>(place: KeyPlace, fields: &'a Fields<'_>, header: &'a str) -> Option<&'a str> {
        sent_key(place, fields, &with_header(Some(header), "Bearer bearer"))
    }

    #[test]
    fn the_versions_own_place_counts_where_both_hold_a_key() {
        let fields = fields(Some(Value::Text("body".into())));
        assert_eq!(sent(KeyPlace::Body, &fields, "header"), Some("body"));
        assert_eq!(sent(KeyPlace::Header, &fields, "header"), Some("header"));
    }

    #[test]
    fn a_bearer_token_counts_where_neither_place_holds_a_key() {
        let none = fields(None);
        for place in [KeyPlace::Body, KeyPlace::Header] {
            for header in [None, Some(""), Some(" ")] {
                let request = with_header(header, "Bearer bearer");
                assert_eq!(sent_key(place, &none, &request), Some("bearer"));
            }
            for text in ["bearer  bearer ", "BEARER\tbearer", " Bearer bearer"] {
                assert_eq!(sent_key(place, &none, &with_header(None, text)), Some("bearer"));
            }
            for text in ["", "Bearer", "Bearer ", "Basic YTpi", "Bearerbearer", "enr_live_x"] {
                assert_eq!(sent_key(place, &none, &with_header(None, text)), None, "{text}");
            }
        }
        let other = fields(Some(Value::Text("body".into())));
        let request = with_header(None, "Bearer bearer");
        assert_eq!(sent_key(KeyPlace::Header, &other, &request), Some("body"));
    }

    #[test]
    fn the_other_place_counts_where_the_own_one_is_blank() {
        for value in [None, Some(Value::Null), Some(Value::Text("  ".into()))] {
            let fields = fields(value);
            assert_eq!(sent(KeyPlace::Body, &fields, "header"), Some("header"));
        }
    }

    #[test]
    fn a_number_in_the_own_place_is_a_wrong_key() {
        let fields = fields(Some(Value::Integer(1)));
        assert_eq!(sent(KeyPlace::Body, &fields, "header"), Some("not a text"));
    }
}
