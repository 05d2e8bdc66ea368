//! Starts a server with the fixtures as its look-up data, and compares its answers with the rules
//! of the HTTP interface.
//!
//! An answer that breaks a rule is called a difference. A difference doesn't end a test: the test
//! reports all its differences at its end.

use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use tempfile::TempDir;

use crate::server::{Server, command, import_fixtures, json_of, text};
use enrich_testkit::http::{Call, Reply};

/// The fields of a request, each as a name and a text.
pub(crate) type Fields<'a> = &'a [(&'a str, &'a str)];

/// A server, the API keys of its accounts, and the differences that were found so far between its
/// answers and the rules of the HTTP interface.
pub(crate) struct World {
    folder: TempDir,
    server: RefCell<Option<Server>>,
    options: Vec<String>,
    keys: RefCell<Vec<String>>,
    differences: RefCell<Vec<String>>,
}

/// An account, and the balance that it must have according to the rules.
pub(crate) struct Account {
    pub(crate) id: String,
    pub(crate) key: String,
    pub(crate) balance: Cell<i64>,
}

impl World {
    pub(crate) fn new(options: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        import_fixtures(&folder.path().join("data"));
        let world = Self {
            folder,
            server: RefCell::new(None),
            options: options.iter().map(|&option| option.to_owned()).collect(),
            keys: RefCell::default(),
            differences: RefCell::default(),
        };
        world.start();
        world
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Writes a file for a test into the folder that also has the server's data; returns the file's
    /// path.
    pub(crate) fn file(&self, name: &str, content: &str) -> String {
        let path = self.folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        path.to_str().unwrap().to_owned()
    }

    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.log_path()).unwrap()
    }

    /// Stops the server and starts it again with the same data.
    pub(crate) fn restart(&self) {
        if let Some(server) = self.server.borrow_mut().take() {
            server.stop();
        }
        self.start();
    }

    pub(crate) fn address(&self) -> std::net::SocketAddr {
        self.server.borrow().as_ref().unwrap().address
    }

    pub(crate) fn account(&self, credits: i64) -> Account {
        let credits_text = credits.to_string();
        let said = self.json_of(&["account", "create", "Tester", "--credits", &credits_text]);
        let account = Account {
            id: text(&said, "account"),
            key: text(&said, "key"),
            balance: Cell::new(credits),
        };
        self.same("`account create` tells the balance", &said["balance"], &json!(credits));
        self.keys.borrow_mut().push(account.key.clone());
        account
    }

    pub(crate) fn json_of(&self, arguments: &[&str]) -> Value {
        json_of(&self.data(), arguments)
    }

    pub(crate) fn grant(&self, account: &Account, credits: i64) {
        let credits_text = credits.to_string();
        let said = self.json_of(&["credits", "grant", &account.id, &credits_text]);
        account.balance.set(account.balance.get() + credits);
        self.same("a grant tells the balance", &said["balance"], &json!(account.balance.get()));
    }

    // --------------------------------------------------------------- methods that send calls

    /// Sends a call, and checks the rules that apply to every answer.
    pub(crate) fn send(&self, call: &Call) -> Reply {
        let reply = call
            .send(self.address())
            .unwrap_or_else(|error| panic!("no answer ({error}) to {call:?}"));
        self.inspect(call, &reply);
        reply
    }

    /// Returns a call in JSON. The key is in the header or in the body, as the path's API version
    /// prescribes.
    pub(crate) fn call(&self, path: &str, key: &str, fields: Fields<'_>) -> Call {
        let fields = fields.iter().map(|&(name, value)| (name.to_owned(), json!(value)));
        self.call_with(path, key, fields.collect())
    }

    /// Returns a call in JSON, as [`Self::call`] does. But the values of the fields may be any JSON
    /// values, not only texts.
    pub(crate) fn call_with(&self, path: &str, key: &str, mut fields: Map<String, Value>) -> Call {
        if path.starts_with("/v2/") {
            return Call::post(path).header("x-api-key", key).json(&Value::Object(fields));
        }
        fields.insert("apiKey".to_owned(), json!(key));
        Call::post(path).json(&Value::Object(fields))
    }

    pub(crate) fn ask(&self, account: &Account, path: &str, fields: Fields<'_>) -> Reply {
        self.send(&self.call(path, &account.key, fields))
    }

    // --------------------------------------------------------------- methods that compare answers

    /// Sends a call with these fields, and compares the answer's body, price and balance with the
    /// expected ones.
    pub(crate) fn answers(
        &self,
        account: &Account,
        path: &str,
        fields: Fields<'_>,
        template: &str,
        price: i64,
    ) {
        let call = self.call(path, &account.key, fields);
        self.answers_to(&format!("{path} {fields:?}"), account, &call, template, price);
    }

    /// Sends a call, and compares the answer's body, price and balance with the expected ones.
    /// `template` is the expected body, in which `<balance>` stands for the balance after the call,
    /// and `<confidence>` for any whole number from 1 to 100.
    pub(crate) fn answers_to(
        &self,
        what: &str,
        account: &Account,
        call: &Call,
        template: &str,
        price: i64,
    ) -> Reply {
        let reply = self.send(call);
        let balance = account.balance.get() - price;
        let confidence = reply.json()["confidence_level"].as_u64().unwrap_or(0);
        if template.contains("<confidence>") {
            let rule = format!("{what}: `confidence_level` is from 1 to 100");
            self.holds(&rule, (1..=100).contains(&confidence), &reply);
        }
        let wanted = template
            .replace("<balance>", &balance.to_string())
            .replace("<confidence>", &confidence.to_string());
        self.same(&format!("{what}: status"), &reply.status, &200);
        self.same(&format!("{what}: body"), &reply.body, &wanted);
        self.same(&format!("{what}: price"), &reply.number("X-Credits-Used"), &Some(price));
        let left = reply.number("X-Credits-Remaining");
        self.same(&format!("{what}: balance"), &left, &Some(balance));
        // Later answers are compared with the balance in this answer, even if this balance is
        // wrong. So a wrong balance is reported only once.
        account.balance.set(left.unwrap_or(balance));
        reply
    }

    /// Expects an error with status 422 that names exactly these fields and costs nothing.
    pub(crate) fn refuses(&self, account: &Account, path: &str, fields: Fields<'_>, at: &[&str]) {
        let call = self.call(path, &account.key, fields);
        self.refuses_call(&format!("{path} {fields:?}"), account, &call, at);
    }

    pub(crate) fn refuses_call(&self, what: &str, account: &Account, call: &Call, at: &[&str]) {
        let reply = self.send(call);
        self.same(&format!("{what}: status"), &reply.status, &422);
        let mut wanted: Vec<String> = at.iter().map(|&name| name.to_owned()).collect();
        wanted.sort_unstable();
        self.same(&format!("{what}: fields at fault"), &fields_of(&reply), &wanted);
        let left = reply.number("X-Credits-Remaining");
        self.same(&format!("{what}: balance"), &left, &Some(account.balance.get()));
        account.balance.set(left.unwrap_or(account.balance.get()));
    }

    pub(crate) fn has_status(&self, what: &str, call: &Call, status: u16) -> Reply {
        let reply = self.send(call);
        self.same(&format!("{what}: status"), &reply.status, &status);
        reply
    }

    pub(crate) fn same<T: PartialEq + std::fmt::Debug + ?Sized>(
        &self,
        rule: &str,
        got: &T,
        wanted: &T,
    ) {
        if got != wanted {
            self.note(format!("{rule}\n     got {got:?}\n  wanted {wanted:?}"));
        }
    }

    pub(crate) fn holds(&self, rule: &str, holds: bool, reply: &Reply) {
        if !holds {
            self.note(format!("{rule}\n     got {reply:?}"));
        }
    }

    pub(crate) fn note(&self, difference: String) {
        self.differences.borrow_mut().push(difference);
    }

    /// Stops the server, verifies the ledger, and fails with all differences if there are any.
    pub(crate) fn finish(self) {
        if let Some(server) = self.server.borrow_mut().take() {
            server.stop();
        }
        let verified = command(&self.data(), &["ledger", "verify", "--json"]);
        let said = String::from_utf8_lossy(&verified.stdout).into_owned();
        if !verified.status.success() || !said.contains("\"ok\":true") {
            self.note(format!("`ledger verify` must hold; it said {said}"));
        }
        let log = self.log();
        if self.keys.borrow().iter().any(|key| log.contains(key.as_str())) {
            self.note("a key stands in the server's log".to_owned());
        }
        let differences = self.differences.take();
        let count = differences.len();
        assert!(count == 0, "{count} differences:\n\n{}\n", differences.join("\n\n"));
    }

    // --------------------------------------------------------------- checks of every answer

    fn inspect(&self, call: &Call, reply: &Reply) {
        let note = |rule: &str| self.holds(&format!("{rule}\n      to {call:?}"), false, reply);
        if reply.header("Cache-Control") != Some("no-store") {
            note("every answer has `Cache-Control: no-store`");
        }
        let id = reply.header("X-Request-Id").unwrap_or_default();
        if id.is_empty() || id.len() > 128 || !id.bytes().all(|byte| byte.is_ascii_graphic()) {
            note("every answer has one `X-Request-Id`");
        }
        match reply.number("X-Credits-Used") {
            None => note("every answer has `X-Credits-Used`"),
            Some(0) => {}
            Some(_) if reply.status != 200 => note("an error uses no credits"),
            Some(_) if reply.header("Idempotency-Replayed").is_some() => {
                note("a repeat uses no credits");
            }
            Some(_) => {}
        }
        if matches!(reply.status, 409 | 429 | 503) && reply.header("Retry-After").is_none() {
            note("409, 429 and 503 have `Retry-After`");
        }
        let known = ["RateLimit-Policy", "RateLimit", "X-Credits-Remaining"];
        let given = known.iter().filter(|name| reply.header(name).is_some()).count();
        let fields_at_fault = !fields_of(reply).is_empty();
        match reply.status {
            200 | 400 | 409 | 429 if given != 3 => note("the key was known: all three headers"),
            422 if fields_at_fault && given != 3 => note("the key was known: all three headers"),
            401 | 404 | 405 | 413 if given != 0 => note("the key was not known: no such header"),
            _ => {}
        }
        if reply.header("X-Credits-Remaining").is_some_and(|left| left.starts_with('-')) {
            note("a balance is never negative");
        }
        self.inspect_body(call, reply);
    }

    fn inspect_body(&self, call: &Call, reply: &Reply) {
        let note = |rule: &str| self.holds(&format!("{rule}\n      to {call:?}"), false, reply);
        if self.keys.borrow().iter().any(|key| reply.body.contains(key.as_str())) {
            note("no answer holds a key");
        }
        if call.method == "HEAD" {
            return;
        }
        let content_type = reply.header("Content-Type").unwrap_or_default();
        if !content_type.starts_with("application/json") {
            note("every answer is JSON");
        }
        if reply.status == 200 {
            return;
        }
        if let Some(wanted) = error_body(reply, call.path.starts_with("/v2/")) {
            self.same(&format!("the shape of an error\n      to {call:?}"), &reply.body, &wanted);
        } else {
            note("an error has a type and a message");
        }
    }

    fn start(&self) {
        let options: Vec<&str> = self.options.iter().map(String::as_str).collect();
        let server = Server::start(&self.data(), &self.log_path(), &options);
        *self.server.borrow_mut() = Some(server);
    }

    fn log_path(&self) -> PathBuf {
        Path::new(self.folder.path()).join("server.log")
    }
}

/// Returns the sorted names under `fields` in an error of either API version.
pub(crate) fn fields_of(reply: &Reply) -> Vec<String> {
    let body = reply.json();
    let fields = body.get("fields").or_else(|| body["errors"].get("fields"));
    let mut names: Vec<String> = fields
        .and_then(Value::as_object)
        .map(|fields| fields.keys().cloned().collect())
        .unwrap_or_default();
    names.sort_unstable();
    names
}

/// Returns the expected body of an error. It is made from the message and the fields in `reply`.
/// Returns `None` if the message or the fields are invalid.
fn error_body(reply: &Reply, is_version_2: bool) -> Option<String> {
    let body = reply.json();
    let kind = if reply.status >= 500 { "api_error" } else { "invalid_request" };
    let message = body["message"].as_str().filter(|message| !message.is_empty())?;
    let mut inner = format!("\"type\":\"{kind}\",\"message\":{}", json!(message));
    // If the error has `fields`, they must be a non-empty object whose values are texts. This
    // object is copied from the reply to the expected body, so the order of its members is not
    // checked.
    let fields = if is_version_2 { body["errors"].get("fields") } else { body.get("fields") };
    if let Some(fields) = fields {
        let texts = fields.as_object().filter(|texts| {
            reply.status == 422 && !texts.is_empty() && texts.values().all(Value::is_string)
        })?;
        let start = reply.body.find("\"fields\":")? + "\"fields\":".len();
        let length = reply.body[start..].find('}')? + 1;
        let raw = &reply.body[start..start + length];
        let same: Map<String, Value> = serde_json::from_str(raw).ok()?;
        if same != *texts {
            return None;
        }
        inner.push_str(&format!(",\"fields\":{raw}"));
    }
    if !is_version_2 {
        return Some(format!("{{{inner}}}"));
    }
    let code = 1000 + u32::from(reply.status);
    Some(format!(
        "{{\"status\":0,\"code\":{code},\"errors\":{{{inner}}},\"data\":{{}},\
         \"type\":\"{kind}\",\"message\":{}}}",
        json!(message)
    ))
}
