//! Tests of commands and servers that use PostgreSQL. If PostgreSQL is not installed, the tests are
//! skipped and say so.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "what fails here fails a test, helpers of the tests included"
)]

#[path = "nodes/conformance.rs"]
mod conformance;
#[path = "nodes/lists.rs"]
mod lists;
#[path = "http_raw/process.rs"]
mod process;
#[path = "nodes/snapshots.rs"]
mod snapshots;

use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use enrich_testkit::http::{Call, Reply};
use enrich_testkit::postgres::{Cluster, ClusterOptions};
use process::{Process, enrich};
use serde_json::{Value, json};
use tempfile::TempDir;

const QUILL: &str = r#"{"type":"company","name":"Quill Ltd","country":"GB","domains":["quill.example"],"emails":["info@quill.example"]}"#;

/// A PostgreSQL database, and the data folders of the nodes (servers) that use it.
struct Nodes {
    folder: TempDir,
    url: String,
}

/// The output and exit status of a command that has ended.
#[derive(Debug)]
struct Ran {
    status: i32,
    out: String,
    err: String,
}

impl Nodes {
    /// Creates Enrich's tables in a database, and the data folder of a first node, whose look-up
    /// data has one company.
    fn over(url: String) -> Self {
        let nodes = Self { folder: tempfile::tempdir().unwrap(), url };
        assert_eq!(nodes.json("a", &["store", "migrate"])["new_secret_key"], true);
        nodes.import("a");
        nodes
    }

    /// Imports the company [`QUILL`] into the look-up data of a node.
    fn import(&self, node: &str) {
        let records = self.folder.path().join("records.jsonl");
        fs::write(&records, format!("{QUILL}\n")).unwrap();
        assert_eq!(self.json(node, &["import", records.to_str().unwrap()])["added"], 1);
    }

    fn data(&self, node: &str) -> PathBuf {
        self.folder.path().join(node)
    }

    /// Runs a command on the folder of a node, with the database at `url` if there is one.
    fn run_at(&self, node: &str, url: Option<&str>, words: &[&str]) -> Ran {
        let mut command = enrich(words);
        command.env("ENRICH_DATA", self.data(node)).current_dir(self.folder.path());
        if let Some(url) = url {
            command.env("ENRICH_STORE", url);
        }
        let output = command.output().unwrap();
        let ran = Ran {
            status: output.status.code().unwrap(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        };
        let password = self.url.split_once("enrich:").and_then(|(_, rest)| rest.split_once('@'));
        let (password, _) = password.unwrap();
        assert!(!format!("{ran:?}").contains(password), "{words:?} shows the password: {ran:?}");
        ran
    }

    fn run(&self, node: &str, words: &[&str]) -> Ran {
        self.run_at(node, Some(&self.url), words)
    }

    /// Runs a command that must succeed; returns its JSON.
    fn json(&self, node: &str, words: &[&str]) -> Value {
        let ran = self.run(node, &[words, &["--json"]].concat());
        assert_eq!(ran.status, 0, "{words:?}: {ran:?}");
        serde_json::from_str(&ran.out).unwrap()
    }

    /// Creates an account; returns its id and its key.
    fn account(&self, credits: &str) -> (String, String) {
        let said = self.json("a", &["account", "create", "Ledger & Sons", "--credits", credits]);
        let text = |field: &str| said[field].as_str().unwrap().to_owned();
        (text("account"), text("key"))
    }

    /// Creates the data folder of another node. It contains the secrets of the first node
    /// (`secret.key`), and no look-up data yet.
    fn add(&self, node: &str) {
        fs::create_dir(self.data(node)).unwrap();
        let secrets = |node| self.data(node).join("secret.key");
        fs::copy(secrets("a"), secrets(node)).unwrap();
    }

    fn serve(&self, node: &str, options: &[&str]) -> Process {
        let mut words = vec!["serve", "--listen", "127.0.0.1:0", "--one-copy"];
        words.extend(options);
        let mut command = enrich(&words);
        command.env("ENRICH_DATA", self.data(node)).env("ENRICH_STORE", &self.url);
        Process::start(&mut command)
    }
}

impl Ran {
    /// Asserts that the command ended with `status`, printed nothing to standard output, and
    /// explained the error.
    #[track_caller]
    fn refused(&self, status: i32, said: &str) {
        assert_eq!((self.status, self.out.as_str()), (status, ""), "{self:?}");
        assert!(self.err.starts_with("error: ") && self.err.contains(said), "{self:?}");
    }
}

/// Creates a new database in the PostgreSQL cluster that all tests share; returns its URL. Returns
/// `None` if PostgreSQL is not installed.
fn fresh() -> Option<String> {
    Some(Cluster::for_tests()?.fresh_database().unwrap().url())
}

fn look_up(server: SocketAddr, key: &str, name: &str) -> Reply {
    let body = json!({ "apiKey": key, "companyName": name });
    Call::post("/v1/cuf").json(&body).send(server).unwrap()
}

fn readiness(server: SocketAddr) -> Reply {
    Call::new("GET", "/readyz").send(server).unwrap()
}

/// Waits until `/readyz` has this status; returns its JSON.
#[track_caller]
fn wait_for_readiness(server: SocketAddr, status: u16) -> Value {
    let begun = Instant::now();
    loop {
        let said = readiness(server);
        if said.status == status {
            return said.json();
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{said:?}");
        thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn commands_do_over_a_database_what_they_do_over_a_folder() {
    let Some(url) = fresh() else { return };
    let nodes = Nodes::over(url);
    let again = nodes.json("a", &["store", "migrate"]);
    assert_eq!(again, json!({ "migrations": 0, "new_secret_key": false }));

    let (account, _) = nodes.account("5");
    nodes.json("a", &["credits", "grant", &account, "7", "--note", "invoice 1042"]);
    assert_eq!(nodes.json("a", &["credits", "show", "Ledger & Sons"])["balance"], 12);
    assert_eq!(nodes.json("a", &["account", "list"])[0]["account"], account.as_str());
    assert_eq!(nodes.json("a", &["credits", "history", &account]).as_array().unwrap().len(), 2);
    nodes.json("a", &["account", "invite", &account, "--email", "ada@quill.example"]);
    assert_eq!(nodes.json("a", &["account", "show", &account])["email"], "ada@quill.example");
    let issued = nodes.json("a", &["key", "issue", &account, "--label", "second"]);
    nodes.json("a", &["key", "revoke", issued["key_id"].as_str().unwrap()]);
    assert_eq!(nodes.json("a", &["key", "list", &account]).as_array().unwrap().len(), 2);
    let exported = nodes.run("a", &["ledger", "export", &account]);
    assert!(exported.out.contains("invoice 1042"), "{exported:?}");
    let proof = nodes.json("a", &["ledger", "verify"]);
    assert_eq!((&proof["ok"], &proof["granted"]), (&true.into(), &12.into()), "{proof}");
    assert_eq!(nodes.json("a", &["check"])["ok"], true);

    let answer = nodes.run("a", &["lookup", "cuf", "companyName=Quill"]);
    assert!(answer.out.contains("quill.example"), "{answer:?}");
    assert_eq!(nodes.json("a", &["source", "list"])[0]["source"], "records.jsonl");
    assert_eq!(nodes.json("a", &["forget", "info@quill.example"])["values"], 1);
    nodes.json("a", &["reindex"]);
    nodes.json("a", &["compact"]);
    nodes.run("a", &["backup", "copy"]).refused(2, "pg_dump");
    nodes.run("a", &["restore", "copy"]).refused(2, "pg_restore");
    nodes.run("a", &["stats"]).refused(2, "a folder with its ledger");
}

#[test]
fn the_folder_and_the_database_belong_together() {
    let Some(url) = fresh() else { return };
    let nodes = Nodes { folder: tempfile::tempdir().unwrap(), url };
    let migrate_first = "copy secret.key of another node into it, or run `enrich store migrate`";
    nodes.run("a", &["account", "list"]).refused(2, migrate_first);
    nodes.run("a", &["serve", "--listen", "127.0.0.1:0"]).refused(2, migrate_first);
    nodes.run_at("a", None, &["store", "check"]).refused(2, "ENRICH_STORE");
    nodes.json("a", &["store", "migrate"]);
    nodes.run_at("a", None, &["account", "list"]).refused(2, "lacks");

    // `migrate` would create new secrets for node `b`. But the database belongs to the secrets of
    // node `a`. So the command is refused, and leaves no secrets in the folder of node `b`.
    nodes.run("b", &["store", "migrate"]).refused(2, "do not belong to this database");
    assert!(!nodes.data("b").join("secret.key").exists(), "useless secrets are not left");
    nodes.run_at("c", None, &["account", "create", "Quill Ltd"]);
    nodes.run("c", &["account", "list"]).refused(2, "a ledger of its own");
    nodes.run("c", &["store", "migrate"]).refused(2, "a ledger of its own");

    // A node whose data folder contains only the secrets (`secret.key`) starts without look-up
    // data, so it finds no company.
    nodes.add("d");
    assert_eq!(nodes.json("d", &["account", "list"]), json!([]));
    nodes.run("d", &["serve", "--listen", "127.0.0.1:0"]).refused(2, "--one-copy");
    let server = nodes.serve("d", &[]);
    assert_eq!(readiness(server.address).status, 200);
}

#[test]
fn a_password_is_shown_by_no_error() {
    let Some(url) = fresh() else { return };
    let nodes = Nodes::over(url);
    let wrong = [
        nodes.url.replace("@127.0.0.1:", "@127.0.0.1:1"),
        nodes.url.replace("postgres://", "postgre://"),
        nodes.url.replace("postgres://", ""),
        format!("{} and more", nodes.url),
    ];
    for url in &wrong {
        let ran = nodes.run_at("a", Some(url), &["account", "list"]);
        assert_eq!((ran.status, ran.out.as_str()), (2, ""), "{ran:?}");
    }
    let typed = nodes.run("a", &["account", "list", &nodes.url]);
    assert!(typed.status == 2 && typed.err.contains("postgres://…"), "{typed:?}");
    let file = nodes.data("a").join("enrich.toml");
    fs::write(&file, format!("store = {}\n", nodes.url)).unwrap();
    let said = nodes.run_at("a", None, &["account", "list", "--config", file.to_str().unwrap()]);
    said.refused(2, "store = …");
    fs::write(&file, format!("store = \"{}\"\n", nodes.url)).unwrap();
    let read = nodes.run_at("a", None, &["account", "list", "--config", file.to_str().unwrap()]);
    assert_eq!(read.status, 0, "{read:?}");
}

#[test]
fn a_check_says_what_is_wrong_and_what_to_do() {
    let Some(url) = fresh() else { return };
    let nodes = Nodes { folder: tempfile::tempdir().unwrap(), url };
    let folder = nodes.data("a");
    enrich_store::load_or_create_secrets(&folder).unwrap();
    let checked = nodes.run("a", &["store", "check"]);
    assert!(checked.status == 1 && checked.out.contains("`enrich store migrate`"), "{checked:?}");
    nodes.json("a", &["store", "migrate"]);
    let checked = nodes.run("a", &["store", "check", "--json"]);
    let said: Value = serde_json::from_str(&checked.out).unwrap();
    assert_eq!((checked.status, &said["ok"]), (1, &false.into()), "{said}");
    assert!(said["problems"][0].as_str().unwrap().contains("synchronous_standby_names"), "{said}");
    let said = nodes.json("a", &["store", "check", "--one-copy"]);
    assert_eq!((&said["problems"], &said["mode"]), (&json!([]), &"serving".into()), "{said}");
    assert_eq!(said["nodes"], json!([]), "a command is no node");
    let server = nodes.serve("a", &[]);
    let with_server = nodes.json("a", &["store", "check", "--one-copy"]);
    assert_eq!(with_server["nodes"][0]["alive"], true, "{with_server}");
    assert!(with_server["notes"][0].as_str().unwrap().contains("/readyz"), "{with_server}");
    drop(server);

    nodes.run("a", &["store", "accept-loss"]).refused_after_a_question("accept");
    assert_eq!(nodes.json("a", &["store", "check", "--one-copy"])["lineage"], said["lineage"]);
    let accepted = nodes.json("a", &["store", "accept-loss", "--yes"]);
    assert_ne!(accepted["lineage"], said["lineage"]);
}

impl Ran {
    /// Asserts that the command did nothing because nobody typed the confirming word.
    #[track_caller]
    fn refused_after_a_question(&self, word: &str) {
        assert_eq!((self.status, self.out.as_str()), (1, ""), "{self:?}");
        assert!(self.err.contains(&format!("`{word}` was not typed")), "{self:?}");
    }
}

#[test]
fn two_servers_share_accounts_and_credits() {
    let Some(url) = fresh() else { return };
    let nodes = Nodes::over(url);
    let (account, key) = nodes.account("3");
    nodes.add("b");
    nodes.import("b");
    let servers = [nodes.serve("a", &[]), nodes.serve("b", &[])];
    for server in &servers {
        let said = readiness(server.address);
        assert_eq!((said.status, &said.json()["store"]), (200, &true.into()), "{said:?}");
    }
    let statuses: Vec<u16> = servers
        .iter()
        .cycle()
        .take(4)
        .map(|server| look_up(server.address, &key, "Quill Ltd").status)
        .collect();
    assert_eq!(statuses, [200, 200, 200, 400], "three credits pay for three answers");
    assert_eq!(nodes.json("b", &["credits", "show", &account])["balance"], 0);
    // Running servers apply the changes that commands make.
    nodes.json("a", &["credits", "grant", &account, "1"]);
    assert_eq!(look_up(servers[1].address, &key, "Quill Ltd").status, 200);
    nodes.json("a", &["account", "suspend", &account]);
    let begun = Instant::now();
    while servers.iter().any(|server| look_up(server.address, &key, "Quill Ltd").status != 401) {
        assert!(begun.elapsed() < Duration::from_secs(30), "the account is still accepted");
        thread::sleep(Duration::from_millis(100));
    }
    for server in servers {
        server.signal("TERM");
        let (status, log) = server.ended(Duration::from_secs(60));
        assert!(status.success() && !log.contains(&nodes.url), "{log}");
    }
    let proof = nodes.json("a", &["ledger", "verify"]);
    assert_eq!((&proof["ok"], &proof["charged"]), (&true.into(), &4.into()), "{proof}");
}

#[test]
fn names_that_were_missed_on_any_node_are_counted_together() {
    let Some(url) = fresh() else { return };
    let nodes = Nodes::over(url);
    let (_, key) = nodes.account("9");
    nodes.add("b");
    let options = ["--count-misses", "texts"];
    for server in [nodes.serve("a", &options), nodes.serve("b", &options)] {
        assert_eq!(look_up(server.address, &key, "Zebrafinch Holdings").status, 200);
        server.signal("TERM");
        assert!(server.ended(Duration::from_secs(60)).0.success());
    }
    let most = nodes.json("b", &["stats", "--misses"]);
    assert_eq!((&most[0]["name"], &most[0]["calls"]), (&"Zebrafinch Holdings".into(), &2.into()));
    let calls = || nodes.json("a", &["stats", "--missed", "ZEBRAFINCH holdings"])["calls"].clone();
    assert_eq!(calls(), 2);
    nodes.json("a", &["forget", "--kind", "missed", "Zebrafinch Holdings"]);
    assert_eq!(calls(), 0);
}

#[test]
fn a_node_without_its_database_is_not_ready_until_it_is_back() {
    let Some(mut cluster) = Cluster::start(&ClusterOptions::default()).unwrap() else { return };
    let nodes = Nodes::over(cluster.url());
    let (_, key) = nodes.account("5");
    let server = nodes.serve("a", &[]);
    assert_eq!(look_up(server.address, &key, "Quill Ltd").status, 200);
    cluster.kill().unwrap();
    let said = wait_for_readiness(server.address, 503);
    assert_eq!(said["ready"], false, "{said}");
    thread::sleep(Duration::from_secs(6));
    let said = readiness(server.address).json();
    assert_eq!(said["store"], false, "{said}");
    assert!(said["reason"].as_str().unwrap().contains("last reached"), "{said}");
    cluster.restart().unwrap();
    wait_for_readiness(server.address, 200);
    assert_eq!(look_up(server.address, &key, "Quill Ltd").status, 200);
}

#[test]
fn a_node_that_stops_charging_says_why() {
    let Some(cluster) = Cluster::start(&ClusterOptions::default()).unwrap() else { return };
    let nodes = Nodes::over(cluster.url());
    let (account, key) = nodes.account("5");
    let server = nodes.serve("a", &[]);
    assert_eq!(look_up(server.address, &key, "Quill Ltd").status, 200);
    // Simulates the restore of an older backup, which lacks the newest rows.
    cluster
        .psql(&format!("DELETE FROM entry WHERE account = '{account}' AND sequence > 1"))
        .unwrap();
    assert_eq!(look_up(server.address, &key, "Quill Ltd").status, 503);
    let said = wait_for_readiness(server.address, 503);
    assert_eq!((&said["charging"], &said["store"]), (&false.into(), &false.into()), "{said}");
    assert!(said["reason"].as_str().unwrap().contains("`enrich store accept-loss`"), "{said}");
    nodes.json("a", &["store", "accept-loss", "--yes"]);
    let said = wait_for_readiness(server.address, 200);
    assert!(said.get("reason").is_none(), "{said}");
}

#[test]
fn the_demo_needs_an_empty_database() {
    let Some(url) = fresh() else { return };
    let demo = |url: &str| {
        let mut command = enrich(&["demo", "--listen", "127.0.0.1:0"]);
        command.env("ENRICH_STORE", url);
        command
    };
    let mut process = Process::start(&mut demo(&url));
    let key = loop {
        let line = process.next_line();
        if let Some(key) = line.trim().strip_prefix("enr_live_") {
            break format!("enr_live_{key}");
        }
    };
    assert_eq!(look_up(process.address, &key, "Telefónica").status, 200);
    process.signal("TERM");
    assert!(process.ended(Duration::from_secs(60)).0.success());
    let output = demo(&url).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("the demo needs an empty one"), "{said}");
    assert!(!said.contains(&url), "{said}");
}
