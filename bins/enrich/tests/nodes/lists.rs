//! Tests of uploaded lists on several servers. The servers share one folder for the lists, and
//! every server shows them on the account page.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use enrich_testkit::http::{Call, Reply};

use super::process::Process;
use super::{Nodes, fresh};

const PASSWORD: &str = "correct horse battery staple";
/// The number of rows of a list. It is so high that a server cannot answer all rows before the test
/// has looked at the list.
const ROWS: usize = 20_000;
/// Time limit for each wait. In this time, even on a busy machine, another server must take over
/// the list of a frozen server and answer its remaining rows.
const PATIENCE: Duration = Duration::from_secs(240);

/// An owner who is signed in.
struct Owner {
    account: String,
    key: String,
    cookie: String,
}

impl Owner {
    fn sign_in(nodes: &Nodes, server: SocketAddr) -> Self {
        let create = ["account", "create", "Lister", "--credits", "100000"];
        let email = ["--email", "ada@quill.example"];
        let created = nodes.json("a", &[&create[..], &email[..]].concat());
        let text = |name: &str| created[name].as_str().unwrap().to_owned();
        let account = text("account");
        let shown = nodes.json("a", &["account", "show", &account]);
        let key = shown["keys"][0]["key_id"].as_str().unwrap().to_owned();
        let mut owner = Self { account, key, cookie: String::new() };
        let invitation = text("invitation");
        let path = invitation.split_once("/account/").unwrap().1;
        let fields = [("password", PASSWORD), ("again", PASSWORD)];
        let accepted = owner.post(server, &format!("/account/{path}"), &fields);
        let set = accepted.header("Set-Cookie").unwrap_or_else(|| panic!("{accepted:?}"));
        owner.cookie = set.split(';').next().unwrap().to_owned();
        owner
    }

    fn call(&self, call: Call, server: SocketAddr) -> Reply {
        let call = call.header("Sec-Fetch-Site", "same-origin");
        call.header("Cookie", self.cookie.as_str()).send(server).unwrap()
    }

    fn post(&self, server: SocketAddr, path: &str, fields: &[(&str, &str)]) -> Reply {
        self.call(Call::post(path).form(fields), server)
    }

    /// Uploads and starts a list whose rows are all found; returns the path of its page.
    fn begin(&self, server: SocketAddr) -> String {
        let rows: String = (0..ROWS).map(|row| format!("{row},Quill Ltd\n")).collect();
        let list = format!(
            "--x\r\nContent-Disposition: form-data; name=\"list\"; filename=\"l.csv\"\r\n\r\n\
             id,Company\n{rows}\r\n--x--\r\n"
        );
        let upload = Call::post("/account/bulk").typed("multipart/form-data; boundary=x", list);
        let uploaded = self.call(upload, server);
        let path = uploaded.header("Location").unwrap_or_else(|| panic!("{uploaded:?}")).to_owned();
        let order = [
            ("endpoint", "/v1/cuf"),
            ("map.companyName", "Company"),
            ("fixed.companyName", ""),
            ("ceiling", "100000"),
            ("key", &self.key),
        ];
        let started = self.post(server, &format!("{path}/start"), &order);
        assert_eq!(started.status, 303, "{started:?}");
        path
    }

    /// Returns the state of the list and the number of written rows, as the page of a server shows
    /// them.
    fn progress(&self, server: SocketAddr, path: &str) -> (String, usize) {
        let page = self.call(Call::new("GET", path), server).body;
        let between = |before: &str, after: &str| {
            let rest = page.split_once(before)?.1;
            Some(rest.split_once(after)?.0.to_owned())
        };
        let state = between("<h2 id=\"state\">", "</h2>").unwrap_or_default();
        let rows = between("<progress id=\"done\" value=\"", "\"").unwrap_or_default();
        (state, rows.parse().unwrap_or_default())
    }

    #[track_caller]
    fn wait(&self, server: SocketAddr, path: &str, is_so: impl Fn(&str, usize) -> bool) -> usize {
        let begun = Instant::now();
        loop {
            let (state, rows) = self.progress(server, path);
            if is_so(&state, rows) {
                return rows;
            }
            assert!(begun.elapsed() < PATIENCE, "{state}, {rows} rows");
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// Downloads the output of the list. Returns its text.
    fn output(&self, server: SocketAddr, path: &str) -> String {
        let mut stream = TcpStream::connect(server).unwrap();
        let request = format!(
            "GET {path}/output HTTP/1.1\r\nHost: {server}\r\nCookie: {}\r\n\
             Connection: close\r\n\r\n",
            self.cookie
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut reply = String::new();
        stream.read_to_string(&mut reply).unwrap();
        let (head, body) = reply.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(" 200 "), "{head}");
        if head.to_lowercase().contains("transfer-encoding: chunked") {
            return of_chunks(body);
        }
        body.to_owned()
    }
}

/// Returns the text of a body that was sent in chunks.
fn of_chunks(mut body: &str) -> String {
    let mut text = String::new();
    while let Some((size, rest)) = body.split_once("\r\n") {
        let (chunk, rest) = rest.split_at(usize::from_str_radix(size, 16).unwrap());
        text += chunk;
        body = rest.strip_prefix("\r\n").unwrap_or_default();
    }
    text
}

fn lists(nodes: &Nodes) -> PathBuf {
    nodes.folder.path().join("lists")
}

fn serve(nodes: &Nodes, node: &str) -> Process {
    nodes.serve(node, &["--lists", lists(nodes).to_str().unwrap()])
}

/// Asserts that the output has each row once, in order.
fn assert_whole(output: &str) {
    let rows = output.lines().filter(|line| line.contains(",Quill Ltd,"));
    let ids: Vec<usize> = rows.map(|row| row.split(',').next().unwrap().parse().unwrap()).collect();
    assert_eq!(ids, (0..ROWS).collect::<Vec<_>>());
}

#[test]
fn another_server_continues_the_list_of_a_frozen_one_and_no_row_is_paid_twice() {
    let Some(url) = fresh() else { return };
    let nodes = Nodes::over(url);
    nodes.add("b");
    nodes.import("b");
    let a = serve(&nodes, "a");
    let owner = Owner::sign_in(&nodes, a.address);
    let path = owner.begin(a.address);
    owner.wait(a.address, &path, |state, rows| state == "Running" && rows > 0);
    let b = serve(&nodes, "b");
    let before = owner.wait(b.address, &path, |_, rows| rows > 100);
    assert!(before < ROWS, "the list ended before the server was lost");
    a.signal("STOP");
    let frozen = owner.progress(b.address, &path).1;
    owner.wait(b.address, &path, |_, rows| rows > frozen);
    // Server `a`, which was frozen, continues while server `b` writes the rows.
    a.signal("CONT");
    owner.wait(b.address, &path, |state, rows| state == "Done" && rows == ROWS);
    for server in [&a, &b] {
        assert_whole(&owner.output(server.address, &path));
    }
    a.signal("KILL");
    assert_whole(&owner.output(b.address, &path));
    let proof = nodes.json("b", &["ledger", "verify"]);
    assert_eq!((&proof["ok"], &proof["charged"]), (&true.into(), &ROWS.into()), "{proof}");
    let left = nodes.json("b", &["credits", "show", &owner.account]);
    assert_eq!(left["balance"], 100_000 - ROWS, "{left}");
    let deleted = owner.post(b.address, &format!("{path}/delete"), &[("sure", "yes")]);
    assert_eq!(deleted.status, 303, "{deleted:?}");
    let id = path.rsplit('/').next().unwrap();
    assert!(!lists(&nodes).join(id).exists(), "files of a deleted list are left");
}

#[test]
fn a_folder_of_lists_needs_a_store() {
    let Some(url) = fresh() else { return };
    let nodes = Nodes::over(url);
    let words = ["serve", "--listen", "127.0.0.1:0", "--lists", "."];
    nodes.run_at("c", None, &words).refused(2, "name --store");
}
