//! Tests of the account page of a server process, over real sockets and a real store.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]
#![allow(dead_code, reason = "the client and the process are shared with other tests")]

#[path = "support/server.rs"]
mod server;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use enrich_testkit::http::{Call, Reply, form};
use serde_json::json;
use server::{Server, import_fixtures, json_of, text};
use tempfile::TempDir;

const PASSWORD: &str = "correct horse battery";

/// A server with its data folder, and an account whose owner is signed in.
struct World {
    server: Option<Server>,
    data: PathBuf,
    account: String,
    key: String,
    cookie: String,
    _folder: TempDir,
}

fn folder() -> (TempDir, PathBuf, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let (data, log) = (folder.path().join("data"), folder.path().join("log"));
    (folder, data, log)
}

impl World {
    fn new(prepare: impl FnOnce(&Path)) -> Self {
        Self::with(&[], prepare)
    }

    /// Calls `prepare` with the path of the data folder, creates the account, starts the server
    /// with the command-line options `options`, and signs the account's owner in.
    fn with(options: &[&str], prepare: impl FnOnce(&Path)) -> Self {
        let (folder, data, log) = folder();
        prepare(&data);
        let owner = ["--credits", "1000", "--email", "ada@quill.example"];
        let created = json_of(&data, &[&["account", "create", "Quill Ltd"], &owner[..]].concat());
        let server = Server::start(&data, &log, options);
        let invitation = text(&created, "invitation");
        let path = invitation.split_once("8080").unwrap().1.to_owned();
        let mut world = Self {
            server: Some(server),
            data,
            account: text(&created, "account"),
            key: text(&created, "key"),
            cookie: String::new(),
            _folder: folder,
        };
        let accepted = world.post(&path, &[("password", PASSWORD), ("again", PASSWORD)]);
        assert_eq!(accepted.status, 303, "{accepted:?}");
        let set = accepted.header("Set-Cookie").unwrap();
        world.cookie = set.split(';').next().unwrap().to_owned();
        world
    }

    fn address(&self) -> SocketAddr {
        self.server.as_ref().unwrap().address
    }

    fn get(&self, path: &str) -> Reply {
        let call = Call::new("GET", path).header("Cookie", self.cookie.as_str());
        call.send(self.address()).unwrap()
    }

    fn post(&self, path: &str, fields: &[(&str, &str)]) -> Reply {
        let call = Call::post(path).header("Sec-Fetch-Site", "same-origin");
        call.header("Cookie", self.cookie.as_str()).form(fields).send(self.address()).unwrap()
    }

    /// Downloads a file, which the server sends in chunks; returns the file's text.
    fn download(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(self.address()).unwrap();
        let (host, cookie) = (self.address(), &self.cookie);
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\nConnection: close\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut reply = Vec::new();
        stream.read_to_end(&mut reply).unwrap();
        let reply = String::from_utf8_lossy(&reply).into_owned();
        assert!(reply.starts_with("HTTP/1.1 200 "), "{reply}");
        reply
    }

    /// Returns the id of the account's only key.
    fn key_id(&self) -> String {
        let shown = json_of(&self.data, &["account", "show", &self.account]);
        text(&shown["keys"][0], "key_id")
    }
}

/// Escapes a text as the page must escape it in HTML.
fn escaped(text: &str) -> String {
    let text = text.replace('&', "&#38;").replace('<', "&#60;").replace('>', "&#62;");
    text.replace('"', "&#34;").replace('\'', "&#39;")
}

#[test]
fn names_that_were_imported_show_as_text() {
    let texts: Vec<&str> = include_str!("../../../crates/enrich-dashboard/tests/pages/xss.txt")
        .lines()
        .filter(|line| !line.is_empty())
        .collect();
    assert!(texts.len() >= 50);
    let world = World::new(|data| {
        std::fs::create_dir(data.parent().unwrap().join("in")).unwrap();
        let path = data.parent().unwrap().join("in/names.jsonl");
        let mut file = std::fs::File::create(&path).unwrap();
        for (number, name) in texts.iter().enumerate() {
            let domain = format!("x{number}.example");
            let company = json!({ "type": "company", "name": name, "domains": [domain] });
            writeln!(file, "{company}").unwrap();
        }
        json_of(data, &["import", path.to_str().unwrap()]);
    });
    let key = world.key_id();
    let mut found = 0;
    for (number, name) in texts.iter().enumerate() {
        let domain = format!("x{number}.example");
        let fields = [("endpoint", "/v1/dtc"), ("key", &key), ("field.companyWebsite", &domain)];
        let seen = world.post("/account/playground", &fields);
        assert_eq!(seen.status, 200);
        let is_harmless = escaped(name) == *name;
        assert!(is_harmless || !seen.body.contains(name), "{name}: {}", seen.body);
        // The page shows the answer's JSON, so the name is escaped twice: first as JSON, then as
        // HTML.
        let in_json = serde_json::to_string(name).unwrap();
        found += usize::from(seen.body.contains(&escaped(&in_json)));
    }
    // Not all texts are found: an import refuses a name without a letter.
    assert!(found >= 45, "{found} of {} show", texts.len());
}

#[test]
fn the_bare_address_leads_to_the_page_and_the_interface_stays_as_it_is() {
    let world = World::new(|data| {
        import_fixtures(data);
    });
    let root = Call::new("GET", "/").send(world.address()).unwrap();
    assert_eq!((root.status, root.header("Location")), (303, Some("/account/")));
    assert_eq!(Call::post("/").send(world.address()).unwrap().status, 404);
    let head = Call::new("HEAD", "/account/sign-in").send(world.address()).unwrap();
    assert_eq!((head.status, head.body.as_str()), (200, ""));
    let put = Call::new("PUT", "/account/keys").send(world.address()).unwrap();
    assert_eq!((put.status, put.header("Allow")), (405, Some("GET, HEAD, POST")));
    let known = json!({ "apiKey": world.key, "companyName": "Telefónica" });
    let call = Call::post("/v1/cuf").json(&known).send(world.address()).unwrap();
    assert_eq!(call.json()["url"], "telefonica.com");
    let calls = world.get("/account/calls");
    assert!(calls.body.contains(call.header("X-Request-Id").unwrap()), "{}", calls.body);
    assert!(calls.body.contains("<strong>999</strong> credits left"));
    assert!(calls.header("Content-Security-Policy").unwrap().starts_with("default-src 'none'"));
}

#[test]
fn a_form_that_is_too_long_or_not_ours_changes_nothing() {
    let world = World::new(|_| {});
    let long = world.post("/account/keys", &[("label", &"x".repeat(70_000))]);
    assert_eq!(long.status, 413);
    let forged = Call::post("/account/keys")
        .header("Cookie", world.cookie.as_str())
        .header("Sec-Fetch-Site", "cross-site")
        .typed("application/x-www-form-urlencoded", form(&[("label", "forged")]));
    assert_eq!(forged.send(world.address()).unwrap().status, 403);
    let shown = json_of(&world.data, &["account", "show", &world.account]);
    assert_eq!(shown["keys"].as_array().unwrap().len(), 1);
}

#[test]
fn a_session_outlives_the_process_and_ends_with_the_operators_word() {
    let mut world = World::new(|_| {});
    assert_eq!(world.get("/account/").status, 200);
    let log = world.data.with_file_name("log");
    world.server.take().unwrap().stop();
    world.server = Some(Server::start(&world.data, &log, &[]));
    assert_eq!(world.get("/account/").status, 200);
    json_of(&world.data, &["account", "sign-out", &world.account]);
    assert_eq!(world.get("/account/").status, 303);
}

#[test]
fn nothing_secret_is_logged() {
    let world = World::new(|_| {});
    let key = world.key_id();
    world.post(&format!("/account/keys/{key}/reveal"), &[]);
    world.post("/account/sign-in", &[("email", "ada@quill.example"), ("password", PASSWORD)]);
    let log = std::fs::read_to_string(world.data.with_file_name("log")).unwrap();
    let session = world.cookie.split_once('=').unwrap().1;
    for secret in [PASSWORD, session, world.key.as_str(), "ada@quill.example"] {
        assert!(!log.contains(secret), "{secret} is in {log}");
    }
}

#[test]
fn what_is_forgotten_leaves_lists_and_repeats_of_a_running_server() {
    let world = World::new(|data| {
        import_fixtures(data);
    });
    let ask = |repeat: &str| {
        let fields = json!({ "apiKey": world.key, "companyName": "Telefónica" });
        let call = Call::post("/v1/cuf").header("Idempotency-Key", repeat).json(&fields);
        call.send(world.address()).unwrap()
    };
    assert_eq!(ask("once").json()["url"], "telefonica.com");
    let list = "--x\r\nContent-Disposition: form-data; name=\"list\"; filename=\"l.csv\"\r\n\r\n\
                Company\nTelefónica\nNorthmoor Lanterns Ltd\n\r\n--x--\r\n";
    let uploaded = Call::post("/account/bulk")
        .header("Sec-Fetch-Site", "same-origin")
        .header("Cookie", world.cookie.as_str())
        .typed("multipart/form-data; boundary=x", list)
        .send(world.address())
        .unwrap();
    let path = uploaded.header("Location").unwrap_or_else(|| panic!("{uploaded:?}")).to_owned();
    let key = world.key_id();
    let order = [
        ("endpoint", "/v1/cuf"),
        ("map.companyName", "Company"),
        ("fixed.companyName", ""),
        ("ceiling", "2"),
        ("key", &key),
    ];
    assert_eq!(world.post(&format!("{path}/start"), &order).status, 303);
    let begun = std::time::Instant::now();
    while !world.get(&path).body.contains(">Done</h2>") {
        assert!(begun.elapsed() < std::time::Duration::from_secs(30), "the list does not end");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let output = format!("{path}/output");
    let before = world.download(&output);
    assert!(before.contains("telefonica.com") && before.contains("northmoor-lanterns.example"));

    json_of(&world.data, &["forget", "telefonica.com", "--kind", "domain"]);
    let after = world.download(&output);
    assert!(!after.contains("telefonica.com"), "{after}");
    assert!(after.contains("northmoor-lanterns.example"), "{after}");
    let again = ask("once");
    assert_eq!((again.status, again.header("Idempotency-Replayed")), (200, Some("true")));
    assert_eq!((&again.json()["url"], again.number("X-Credits-Used")), (&json!(""), Some(0)));
}

#[test]
fn a_suppression_list_reaches_a_running_server() {
    let world = World::new(|data| {
        let file = data.with_file_name("records.jsonl");
        let record = r#"{"name":"Quill Ltd","domains":["quill.example"],"emails":["info@quill.example","anna.smith@domain.com"]}"#;
        std::fs::write(&file, record).unwrap();
        json_of(data, &["import", file.to_str().unwrap()]);
    });
    let ask = |repeat: &str| {
        let fields = json!({ "apiKey": world.key, "companyName": "Quill Ltd" });
        let call = Call::post("/v1/nte").header("Idempotency-Key", repeat).json(&fields);
        call.send(world.address()).unwrap()
    };
    let before = ask("once");
    assert_eq!(before.json()["emails"], json!(["info@quill.example", "anna.smith@domain.com"]));

    let list = world.data.with_file_name("list.txt");
    std::fs::write(&list, "280d7c313fe987a207623cd3f73c044f2483432bd287ced8ba8481a4e42d9211\n")
        .unwrap();
    json_of(&world.data, &["forget", "--list", list.to_str().unwrap()]);
    assert_eq!(ask("another").json()["emails"], json!(["info@quill.example"]));
    let again = ask("once");
    assert_eq!((again.status, again.header("Idempotency-Replayed")), (200, Some("true")));
    assert!(!again.body.contains("anna.smith"), "{}", again.body);
    let log = std::fs::read_to_string(world.data.with_file_name("log")).unwrap();
    assert!(!log.contains("anna.smith") && !log.contains("280d7c"), "{log}");
}

#[test]
fn the_page_can_be_switched_off() {
    let (_folder, data, log) = folder();
    let server = Server::start(&data, &log, &["--no-account-page"]);
    for path in ["/", "/account", "/account/", "/account/sign-in"] {
        let seen = Call::new("GET", path).send(server.address).unwrap();
        assert_eq!((seen.status, &seen.json()["type"]), (404, &json!("invalid_request")), "{path}");
    }
    assert!(!data.join("bulk").exists());
}

/// Sends `body`, a form with a file, in `pieces` pieces. Waits for `pause` after each piece, and
/// stops when the server's answer begins to arrive. Returns the number of pieces sent, and the
/// answer.
fn dripped(
    world: &World,
    head: &str,
    body: &str,
    pieces: usize,
    pause: Duration,
) -> (usize, String) {
    let mut stream = TcpStream::connect(world.address()).unwrap();
    stream.set_nodelay(true).unwrap();
    let (host, length) = (world.address(), body.len());
    let head = format!(
        "POST {head}\r\nHost: {host}\r\nSec-Fetch-Site: same-origin\r\nConnection: close\r\n\
         Content-Type: multipart/form-data; boundary=x\r\nContent-Length: {length}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.set_read_timeout(Some(pause)).unwrap();
    let mut came = Vec::new();
    let mut sent = 0;
    for piece in body.as_bytes().chunks(length.div_ceil(pieces)) {
        stream.write_all(piece).unwrap();
        sent += 1;
        let mut buffer = [0; 64];
        if let Ok(count) = stream.read(&mut buffer) {
            came.extend_from_slice(&buffer[..count]);
            break;
        }
    }
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    // An error is ignored here, because the server may reset the connection after its answer.
    let _ = stream.read_to_end(&mut came);
    (sent, String::from_utf8_lossy(&came).into_owned())
}

/// Returns the body of a form that uploads a list of `rows` rows.
fn list(rows: usize) -> String {
    format!(
        "--x\r\nContent-Disposition: form-data; name=\"list\"; filename=\"leads.csv\"\r\n\
         Content-Type: text/csv\r\n\r\nCompany\n{}\r\n--x--\r\n",
        "Quill\n".repeat(rows)
    )
}

#[test]
fn a_form_of_a_stranger_has_no_more_time_than_any_other_body_whatever_its_type() {
    let world = World::with(&["--body-timeout", "1"], |_| {});
    let pause = Duration::from_millis(300);
    for head in ["/account/sign-in HTTP/1.1", "/account/bulk HTTP/1.1"] {
        let (sent, came) = dripped(&world, head, &list(100), 30, pause);
        assert!(sent < 30, "{head}: everything was waited for, then {came:?}");
        let status = came.split(' ').nth(1).unwrap_or_default();
        assert!(["303", "400", "408"].contains(&status), "{head}: {came:?}");
    }
    // Only the form that uploads lists has the longer time limit; the owner's other forms don't.
    let cookie = format!("/account/keys HTTP/1.1\r\nCookie: {}", world.cookie);
    let (sent, came) = dripped(&world, &cookie, &list(100), 30, pause);
    assert!(sent < 30, "everything was waited for, then {came:?}");
}

#[test]
fn a_list_of_somebody_signed_in_has_more_time_than_a_form() {
    let world = World::with(&["--body-timeout", "1"], |_| {});
    let head = format!("/account/bulk HTTP/1.1\r\nCookie: {}", world.cookie);
    let (_, came) = dripped(&world, &head, &list(100), 6, Duration::from_millis(400));
    assert!(came.starts_with("HTTP/1.1 303 "), "{came}");
}

#[test]
fn every_page_carries_its_request_id() {
    let world = World::new(|_| {});
    for path in ["/account/", "/account/sign-in", "/account/nothing"] {
        let call = Call::new("GET", path).header("X-Request-Id", "order-77");
        let seen = call.send(world.address()).unwrap();
        assert_eq!(seen.header("X-Request-Id"), Some("order-77"), "{path}");
    }
}

#[test]
fn pages_are_compressed_where_a_request_can_choose_nothing_of_them() {
    let world = World::new(|_| {});
    let encoding = |method: &str, path: &str, accepted: &str| {
        let call = Call::new(method, path).header("Cookie", world.cookie.as_str());
        let call = call.header("Accept-Encoding", accepted).header("Sec-Fetch-Site", "same-origin");
        let seen = call.send(world.address()).unwrap();
        assert_eq!(seen.status, 200, "{path}: {seen:?}");
        seen.header("Content-Encoding").map(str::to_owned)
    };
    let (gzip, brotli) = (Some("gzip".to_owned()), Some("br".to_owned()));
    assert_eq!(encoding("HEAD", "/account/", "gzip"), gzip);
    assert_eq!(encoding("HEAD", "/account/", "gzip, br"), brotli);
    assert_eq!(encoding("HEAD", "/account/", "identity"), None);
    assert_eq!(encoding("HEAD", "/account/calls?found=yes", "gzip, br"), None);
    let reveal = format!("/account/keys/{}/reveal", world.key_id());
    assert_eq!(encoding("POST", &reveal, "gzip, br"), None);
    let page = world.get("/account/").body;
    let (_, style) = page.split_once("href=\"/account/assets/").unwrap();
    let style = format!("/account/assets/{}", style.split('"').next().unwrap());
    assert_eq!(encoding("HEAD", &style, "gzip"), gzip);
    assert_eq!(encoding("HEAD", &style, "gzip, br"), brotli);
}
