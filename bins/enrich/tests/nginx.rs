//! Tests the nginx configuration in docs/guide/behind-a-proxy.md: nginx runs with this
//! configuration in front of a server.
//!
//! The tests are skipped if there is no `nginx` on the PATH.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]
#![allow(clippy::print_stderr, reason = "a test that is left out says so")]

#[path = "support/server.rs"]
#[allow(dead_code, reason = "the process is shared with other tests")]
mod server;

use std::fs;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use enrich_testkit::http::{Call, Reply};
use serde_json::json;
use server::{Server, import_fixtures, json_of, text};
use socket2::{Domain, Socket, Type};

const PUBLIC_URL: &str = "https://enrich.quill.example";
const HOST: &str = "enrich.quill.example";
const PASSWORD: &str = "correct horse battery";
/// Time limit for nginx to start. It is longer than nginx needs.
const PATIENCE: Duration = Duration::from_secs(20);

/// A running nginx in front of a server. Dropping this value ends nginx.
struct Nginx {
    child: Child,
    address: SocketAddr,
}

impl Drop for Nginx {
    fn drop(&mut self) {
        // On SIGTERM, nginx also ends its worker processes. After SIGKILL, they would continue to
        // run.
        let id = self.child.id().to_string();
        let _ = Command::new("kill").args(["-TERM", &id]).status();
        let _ = self.child.wait();
    }
}

/// Returns the nginx configuration that the guide shows, with the addresses, certificates and logs
/// of the test.
fn configuration(server: SocketAddr, listen: SocketAddr, folder: &Path) -> String {
    let guide = include_str!("../../../docs/guide/behind-a-proxy.md");
    let (_, rest) = guide.split_once("```nginx\n").unwrap();
    let documented = rest.split_once("```").unwrap().0;
    let mut lines = Vec::new();
    for line in documented.lines() {
        let directive = line.split_whitespace().next().unwrap_or_default();
        match directive {
            "listen" => lines.push(format!("listen {listen};")),
            "ssl_certificate" | "ssl_certificate_key" => {}
            "access_log" => lines.push("access_log off;".to_owned()),
            _ => lines.push(line.replace("server 127.0.0.1:8080;", &format!("server {server};"))),
        }
    }
    let (folder, site) = (folder.display(), lines.join("\n"));
    let user = if is_root() { "user root;" } else { "" };
    format!(
        "{user}\ndaemon off;\npid {folder}/pid;\nerror_log {folder}/error.log;\n\
         events {{ worker_connections 256; }}\n\
         http {{\n\
         client_body_temp_path {folder}/body;\nproxy_temp_path {folder}/proxy;\n\
         fastcgi_temp_path {folder}/fastcgi;\nuwsgi_temp_path {folder}/uwsgi;\n\
         scgi_temp_path {folder}/scgi;\n{site}\n}}\n"
    )
}

fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    fs::metadata("/proc/self").is_ok_and(|it| it.uid() == 0)
}

/// Starts nginx in front of a server; returns `None` if nginx is not installed.
fn nginx(server: SocketAddr, folder: &Path) -> Option<Nginx> {
    if Command::new("nginx").arg("-v").stderr(Stdio::null()).status().is_err() {
        eprintln!("left out: there is no nginx on the PATH");
        return None;
    }
    fs::create_dir(folder).unwrap();
    let free = TcpListener::bind("0.0.0.0:0").unwrap().local_addr().unwrap();
    let file = folder.join("nginx.conf");
    fs::write(&file, configuration(server, free, folder)).unwrap();
    let child = Command::new("nginx")
        .arg("-p")
        .arg(folder)
        .args(["-e", "error.log", "-c"])
        .arg(&file)
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, free.port()));
    let nginx = Nginx { child, address };
    let started = Instant::now();
    while TcpStream::connect(address).is_err() {
        let log = fs::read_to_string(folder.join("error.log")).unwrap_or_default();
        assert!(started.elapsed() < PATIENCE, "nginx does not come up: {log}");
        thread::sleep(Duration::from_millis(20));
    }
    Some(nginx)
}

/// Sends a call from the address `client`, which must belong to this machine.
fn send_from(client: Ipv4Addr, call: &Call, to: SocketAddr) -> Reply {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    socket.bind(&SocketAddr::from((client, 0)).into()).unwrap();
    socket.connect(&to.into()).unwrap();
    call.clone().host(HOST).send_over(socket.into()).unwrap()
}

fn sign_in(email: &str, password: &str) -> Call {
    let call = Call::post("/account/sign-in").header("Sec-Fetch-Site", "same-origin");
    call.header("Origin", PUBLIC_URL).form(&[("email", email), ("password", password)])
}

#[test]
fn the_documented_proxy_passes_on_what_people_and_programs_ask_for() {
    let folder = tempfile::tempdir().unwrap();
    let (data, log) = (folder.path().join("data"), folder.path().join("log"));
    import_fixtures(&data);
    let owner = ["--credits", "1000", "--email", "ada@quill.example"];
    let created = json_of(&data, &[&["account", "create", "Quill Ltd"], &owner[..]].concat());
    let server = Server::start(&data, &log, &["--public-url", PUBLIC_URL]);
    let Some(nginx) = nginx(server.address, &folder.path().join("nginx")) else { return };
    let send = |call: &Call| call.clone().host(HOST).send(nginx.address).unwrap();
    let get = |path: &str| send(&Call::new("GET", path));

    for path in ["/v1/cuf", "/v1/cuf/"] {
        let body = json!({ "apiKey": text(&created, "key"), "companyName": "Telefónica" });
        assert_eq!(send(&Call::post(path).json(&body)).json()["url"], "telefonica.com");
    }
    assert_eq!([get("/openapi.json").status, get("/docs").status], [200, 200]);
    for path in ["/healthz", "/readyz", "/metrics", "/nothing", "/accounts"] {
        assert_eq!(get(path).status, 404, "{path}");
    }

    assert_eq!(get("/").header("Location"), Some("/account/"));
    assert_eq!(get("/account/sign-in").status, 200);
    let invitation = text(&created, "invitation");
    let path = &invitation[invitation.find("/account/").unwrap()..];
    let accept = Call::post(path).header("Sec-Fetch-Site", "same-origin");
    let accept = accept.header("Origin", PUBLIC_URL);
    let accepted = send(&accept.form(&[("password", PASSWORD), ("again", PASSWORD)]));
    assert_eq!(accepted.status, 303, "{accepted:?}");
    let cookie = accepted.header("Set-Cookie").unwrap().split(';').next().unwrap().to_owned();
    assert!(cookie.starts_with("__Host-"), "{cookie}");

    // nginx must accept an uploaded list, although it is larger than the maximum body of an API
    // call.
    let list = format!(
        "--x\r\nContent-Disposition: form-data; name=\"list\"; filename=\"leads.csv\"\r\n\
         Content-Type: text/csv\r\n\r\nCompany\n{}\r\n--x--\r\n",
        "Quill\n".repeat(400_000)
    );
    let upload = Call::post("/account/bulk").header("Sec-Fetch-Site", "same-origin");
    let upload = upload.header("Origin", PUBLIC_URL).header("Cookie", cookie.as_str());
    let uploaded = send(&upload.typed("multipart/form-data; boundary=x", list));
    assert_eq!(uploaded.status, 303, "{uploaded:?}");
}

#[test]
fn the_documented_proxy_says_for_whom_it_asks() {
    let folder = tempfile::tempdir().unwrap();
    let (data, log) = (folder.path().join("data"), folder.path().join("log"));
    json_of(&data, &["account", "create", "Quill Ltd", "--email", "ada@quill.example"]);
    let server = Server::start(&data, &log, &["--public-url", PUBLIC_URL]);
    let Some(nginx) = nginx(server.address, &folder.path().join("nginx")) else { return };
    let [guesser, other] = [Ipv4Addr::new(127, 0, 0, 2), Ipv4Addr::new(127, 0, 0, 3)];
    // Each client address may make 20 wrong attempts at once, and one more every 15 seconds, for
    // all accounts together. A forged `X-Forwarded-For` does not help, because nginx replaces it.
    let mut answers = Vec::new();
    for number in 0..24 {
        let call = sign_in(&format!("nobody{number}@quill.example"), "wrong horse battery");
        let call = call.header("X-Forwarded-For", format!("192.0.2.{number}"));
        answers.push(send_from(guesser, &call, nginx.address).status);
    }
    let first = answers[0];
    let last = answers[23];
    assert_ne!(first, last, "the tries of an address have no end: {answers:?}");
    let call = sign_in("somebody@quill.example", "wrong horse battery");
    let seen = send_from(other, &call, nginx.address);
    assert_eq!(seen.status, first, "another address pays for it: {seen:?}");
}
