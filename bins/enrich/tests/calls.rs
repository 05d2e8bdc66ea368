//! Sends the calls in `fixtures/calls` and compares the answers with their snapshots. Also checks
//! what the compiler can't check in the endpoint tables.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use enrich_core::port::accounts::Accounts as _;
use enrich_core::port::ledger::{Grant, Ledger as _};
use enrich_core::{
    Account, AccountId, ApiKey, ChargeId, Clock as _, Credits, KeyId, NewKey, RateOverride,
    RequestId, Service,
};
use enrich_store::Store;
use enrich_testkit::fake_clock::FakeClock;
use enrich_wire::{ApiVersion, CallOutcome, CallRecord, Endpoint, Request, Response, respond};
use pollster::block_on;

#[path = "support/import.rs"]
mod support;

/// The kinds of recorded calls. Every endpoint has one call of each kind.
const CASES: [&str; 5] = ["found", "invalid", "no_credits", "nothing", "unknown_key"];
/// The credits of the account that makes a call. For a call of the kind `no_credits`, the account
/// has 0 credits.
const CREDITS: i64 = 100;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")
}

fn api_versions() -> [&'static ApiVersion; 2] {
    [&enrich_wire_v1::API_VERSION, &enrich_wire_v2::API_VERSION]
}

fn endpoints() -> impl Iterator<Item = (&'static ApiVersion, &'static Endpoint)> {
    api_versions()
        .into_iter()
        .flat_map(|api_version| api_version.endpoints.iter().map(move |row| (api_version, row)))
}

/// Returns the folder of an endpoint's recorded calls. For `/v2/services/name_to_domain` this is
/// `fixtures/calls/v2/name_to_domain`.
fn folder(endpoint: &Endpoint) -> PathBuf {
    let below = endpoint.path.trim_start_matches('/').replace("services/", "");
    fixtures().join("calls").join(below)
}

/// Returns a clock that always shows the same time, 20 seconds after the beginning of a minute. So
/// in every answer, the rate-limit window ends in 40 seconds.
fn clock() -> FakeClock {
    FakeClock::at("2026-11-20T12:00:20Z")
}

/// A store with the look-up data of `fixtures/directory`, and a service over this store.
struct World {
    store: Store,
    service: Service,
    _folder: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open_or_create(folder.path().join("data")).unwrap();
        for file in ["companies.jsonl", "examples.jsonl", "domains.jsonl"] {
            support::import(&store, &fixtures().join("directory").join(file), clock().now());
        }
        let service = store.service_with(Arc::new(clock()));
        Self { store, service, _folder: folder }
    }

    /// Creates an account with these credits. Each call has its own account, so that calls don't
    /// affect each other.
    fn account(&self, credits: i64) -> (AccountId, ApiKey) {
        let now = clock().now();
        let (id, key) = (AccountId::new(now), ApiKey::generate().unwrap());
        let account = Account { id, ..Account::new("Caller", now) };
        let first_key = NewKey {
            id: KeyId::new(now),
            account: id,
            label: String::new(),
            key: key.clone(),
            rate: RateOverride::default(),
            created_at: now,
            expires_at: None,
        };
        block_on(self.store.accounts.create(account, first_key)).unwrap();
        if credits > 0 {
            let note = String::new();
            let grant = Grant {
                id: ChargeId::new(now),
                account: id,
                credits,
                note,
                corrects: None,
                at: now,
            };
            block_on(self.store.ledger.grant(grant)).unwrap();
        }
        (id, key)
    }

    fn balance(&self, account: AccountId) -> Credits {
        block_on(self.store.ledger.balance(account)).unwrap().unwrap()
    }
}

/// A call as a file describes it: path, headers and body, with placeholders for keys.
struct Call {
    path: String,
    headers: BTreeMap<String, String>,
    body: String,
}

impl Call {
    fn read(file: &Path) -> Self {
        let text = std::fs::read_to_string(file).unwrap();
        let (head, body) = text.split_once("\n\n").unwrap();
        let mut lines = head.lines();
        let path = lines.next().unwrap().strip_prefix("POST ").unwrap().to_owned();
        let headers = lines
            .map(|line| line.split_once(": ").unwrap())
            .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
            .collect();
        Self { path, headers, body: body.trim_end().to_owned() }
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }
}

/// The answer to a call, the record of the call, and the balance before and after the call.
struct Shown {
    response: Response,
    record: CallRecord,
    before: Credits,
    after: Credits,
}

impl Shown {
    /// Returns the text of the snapshot: status, headers, body and balances.
    fn text(&self) -> String {
        let mut text = format!("HTTP {}\n", self.response.status);
        for (name, value) in &self.response.headers {
            writeln!(text, "{name}: {value}").unwrap();
        }
        let body = std::str::from_utf8(&self.response.body).unwrap();
        write!(text, "\n{body}\n\nbalance: {} -> {}", self.before, self.after).unwrap();
        text
    }
}

fn send(world: &World, api_version: &ApiVersion, endpoint: &Endpoint, file: &Path) -> Shown {
    let mut call = Call::read(file);
    assert_eq!(call.path, endpoint.path, "{}", file.display());
    let is_poor = call.body.contains("{{key_of_an_empty_account}}")
        || call.headers.values().any(|value| value == "{{key_of_an_empty_account}}");
    let (account, key) = world.account(if is_poor { 0 } else { CREDITS });
    let unknown = ApiKey::generate().unwrap();
    let filled = |text: &str| {
        text.replace("{{key}}", key.expose())
            .replace("{{key_of_an_empty_account}}", key.expose())
            .replace("{{unknown_key}}", unknown.expose())
    };
    call.body = filled(&call.body);
    call.headers.values_mut().for_each(|value| *value = filled(value));

    let before = world.balance(account);
    let request_id = RequestId::accept(call.header("x-request-id").unwrap()).unwrap();
    let request = Request {
        content_type: call.header("content-type"),
        api_key: call.header("x-api-key"),
        authorization: call.header("authorization"),
        idempotency_key: call.header("idempotency-key"),
        body: call.body.as_bytes(),
    };
    let call = respond(&world.service, api_version, endpoint, &request_id, request);
    let (response, record) = block_on(call);
    Shown { response, record, before, after: world.balance(account) }
}

/// Returns the names of an object's fields, in the order of its JSON text.
fn field_names(body: &serde_json::value::RawValue) -> Vec<String> {
    struct Names(Vec<String>);
    impl<'de> serde::Deserialize<'de> for Names {
        fn deserialize<D: serde::Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
            struct NamesVisitor;
            impl<'de> serde::de::Visitor<'de> for NamesVisitor {
                type Value = Names;
                fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                    f.write_str("an object")
                }
                fn visit_map<A: serde::de::MapAccess<'de>>(
                    self,
                    mut map: A,
                ) -> Result<Names, A::Error> {
                    let mut names = Vec::new();
                    while let Some(name) = map.next_key()? {
                        map.next_value::<serde::de::IgnoredAny>()?;
                        names.push(name);
                    }
                    Ok(Names(names))
                }
            }
            reader.deserialize_map(NamesVisitor)
        }
    }
    serde_json::from_str::<Names>(body.get()).unwrap().0
}

/// Returns the names of an answer's fields. In version 1, these are the fields of the body; in
/// version 2, the fields of the object `data` in the body.
fn answer_fields(api_version: &ApiVersion, body: &[u8]) -> Vec<String> {
    if api_version.number == 1 {
        return field_names(serde_json::from_slice(body).unwrap());
    }
    let envelope: BTreeMap<String, &serde_json::value::RawValue> =
        serde_json::from_slice(body).unwrap();
    field_names(envelope["data"])
}

#[test]
fn every_call_is_answered_as_its_snapshot_says() {
    let world = World::new();
    for (api_version, endpoint) in endpoints() {
        let folder = folder(endpoint);
        let mut files: Vec<PathBuf> =
            std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.retain(|file| file.extension().is_some_and(|ending| ending == "http"));
        files.sort();
        for file in files {
            let shown = send(&world, api_version, endpoint, &file);
            let case = file.file_stem().unwrap().to_str().unwrap();
            insta::with_settings!({
                snapshot_path => &folder,
                prepend_module_to_snapshot => false,
                omit_expression => true,
                description => format!("{} {case}", endpoint.path),
            }, {
                insta::assert_snapshot!(case, shown.text());
            });
        }
    }
}

#[test]
fn every_endpoint_shows_each_case_and_keeps_to_its_row() {
    let world = World::new();
    for (api_version, endpoint) in endpoints() {
        let path = endpoint.path;
        let show = |case: &str| {
            let file = folder(endpoint).join(case).with_extension("http");
            assert!(file.exists(), "{path} has no call for `{case}`: {}", file.display());
            send(&world, api_version, endpoint, &file)
        };
        let [found, invalid, no_credits, nothing, unknown_key] = CASES.map(show);

        let statuses = [&found, &invalid, &no_credits, &nothing, &unknown_key]
            .map(|shown| shown.response.status);
        assert_eq!(statuses, [200, 422, 400, 200, 401], "{path}");
        assert!(matches!(found.record.outcome, CallOutcome::Found { .. }), "{path}");
        assert!(matches!(nothing.record.outcome, CallOutcome::NotFound), "{path}");

        let paid = found.before.checked_sub(found.after).unwrap();
        assert!(paid >= endpoint.price.least(), "{path}: an answer costs something");
        assert_eq!(paid, found.record.outcome.used(), "{path}");
        for shown in [&invalid, &no_credits, &nothing, &unknown_key] {
            assert_eq!(shown.before, shown.after, "{path}: only an answer costs something");
        }
        for shown in [&found, &nothing] {
            let fields = answer_fields(api_version, &shown.response.body);
            assert_eq!(
                fields,
                endpoint.wire.answer_fields(),
                "{path}: fields as the row lists them"
            );
        }
    }
}

#[test]
fn paths_are_unique_and_under_their_versions_prefix() {
    let mut paths = BTreeSet::new();
    for (api_version, endpoint) in endpoints() {
        assert!(endpoint.path.starts_with(api_version.prefix), "{}", endpoint.path);
        assert!(paths.insert(endpoint.path), "{} is there twice", endpoint.path);
    }
}

#[test]
fn no_call_belongs_to_no_endpoint() {
    let known: BTreeSet<PathBuf> = endpoints().map(|(_, endpoint)| folder(endpoint)).collect();
    for api_version in ["v1", "v2"] {
        for entry in std::fs::read_dir(fixtures().join("calls").join(api_version)).unwrap() {
            let folder = entry.unwrap().path();
            assert!(known.contains(&folder), "{} has no endpoint", folder.display());
        }
    }
}

#[test]
fn the_reference_lists_every_endpoint_with_its_price() {
    let reference = include_str!("../../../docs/reference/endpoints.md");
    for (_, endpoint) in endpoints() {
        let begin = format!("| `{}` |", endpoint.path);
        let line = reference.lines().find(|line| line.starts_with(&begin));
        let line = line.unwrap_or_else(|| panic!("{} is not in endpoints.md", endpoint.path));
        assert!(line.ends_with(&format!("| {} |", endpoint.price)), "{line}");
        for field in endpoint.wire.inputs {
            assert!(line.contains(field.name), "endpoints.md, {}: {}", endpoint.path, field.name);
        }
    }
}
