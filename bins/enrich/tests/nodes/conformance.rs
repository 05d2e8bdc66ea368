//! Sends the recorded calls of all endpoints to three servers that share one database, and compares
//! the answers with their snapshots.

use std::collections::BTreeSet;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::thread;

use enrich_core::port::accounts::Accounts as _;
use enrich_core::port::ledger::{Grant, Ledger as _};
use enrich_core::{Account, ApiKey, Clock as _, NewKey};
use enrich_store::{SystemClock, load_or_create_secrets};
use enrich_store_postgres::CommandPorts;
use enrich_testkit::http::{Call, Reply};
use pollster::block_on;
use serde_json::Value;

use super::process::Process;
use super::{Nodes, fresh, look_up};

const NODES: [&str; 3] = ["a", "b", "c"];
/// The credits of the account that sends a recorded call. If the call needs an account without
/// credits, the account has 0 credits instead.
const CREDITS: i64 = 100;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")
}

/// Starts three servers. Each has a copy of the look-up data in `fixtures/directory`.
fn three(url: String) -> (Nodes, [Process; 3]) {
    let nodes = Nodes { folder: tempfile::tempdir().unwrap(), url };
    nodes.json("a", &["store", "migrate"]);
    for file in ["companies.jsonl", "examples.jsonl", "domains.jsonl"] {
        let file = fixtures().join("directory").join(file);
        nodes.json("a", &["import", file.to_str().unwrap(), "--source", "fixtures"]);
    }
    for node in &NODES[1..] {
        nodes.add(node);
        for file in fs::read_dir(nodes.data("a")).unwrap() {
            let file = file.unwrap();
            fs::copy(file.path(), nodes.data(node).join(file.file_name())).unwrap();
        }
    }
    let servers = NODES.map(|node| nodes.serve(node, &[]));
    (nodes, servers)
}

/// Creates an account; returns its key.
fn account(ports: &CommandPorts, credits: i64) -> ApiKey {
    let now = SystemClock.now();
    let account = Account::new("Caller", now);
    let id = account.id;
    let first = NewKey::generate(id, "", now).unwrap();
    let key = first.key.clone();
    block_on(ports.accounts.create(account, first)).unwrap();
    if credits > 0 {
        block_on(ports.ledger.grant(Grant::new(id, credits, now))).unwrap();
    }
    key
}

/// Sends the recorded call in `file`. A placeholder for a key is replaced by the key of a new
/// account, or by a key that does not exist.
fn send(ports: &CommandPorts, server: SocketAddr, file: &Path) -> Reply {
    let text = fs::read_to_string(file).unwrap();
    let is_poor = text.contains("{{key_of_an_empty_account}}");
    let key = account(ports, if is_poor { 0 } else { CREDITS });
    let text = text
        .replace("{{key}}", key.expose())
        .replace("{{key_of_an_empty_account}}", key.expose())
        .replace("{{unknown_key}}", ApiKey::generate().unwrap().expose());
    let (head, body) = text.split_once("\n\n").unwrap();
    let mut lines = head.lines();
    let path = lines.next().unwrap().strip_prefix("POST ").unwrap();
    let mut call = Call::post(path).body(body.trim_end());
    for line in lines {
        let (name, value) = line.split_once(": ").unwrap();
        call = call.header(name, value);
    }
    call.send(server).unwrap()
}

/// Compares an answer with the recorded one (in a `.snap` file): status, headers and body. The
/// seconds until the rate-limit window ends (`;t=`) are not compared, because they depend on the
/// time. Returns the credits that the answer costs.
fn compare(reply: &Reply, file: &Path) -> Result<u64, String> {
    let recorded = fs::read_to_string(file.with_extension("snap")).unwrap();
    let (_, recorded) = recorded.split_once("\n---\n").unwrap();
    let (head, rest) = recorded.split_once("\n\n").unwrap();
    let (body, balances) = rest.rsplit_once("\n\nbalance: ").unwrap();
    let mut lines = head.lines();
    let status = lines.next().unwrap();
    let mut differs = status != format!("HTTP {}", reply.status) || reply.bytes != body.as_bytes();
    for line in lines {
        let (name, value) = line.split_once(": ").unwrap();
        let timeless = |value: &str| value.split(";t=").next().map(str::to_owned);
        differs |= reply.header(name).and_then(timeless) != timeless(value);
    }
    if differs {
        return Err(format!("{}:\n{recorded}\nwas answered:\n{reply:?}", file.display()));
    }
    let (before, after) = balances.trim().split_once(" -> ").unwrap();
    Ok(before.parse::<u64>().unwrap() - after.parse::<u64>().unwrap())
}

/// Returns the paths of the recorded calls of all endpoints.
fn calls() -> BTreeSet<PathBuf> {
    let entries = |folder: PathBuf| fs::read_dir(folder).unwrap().map(|it| it.unwrap().path());
    let endpoints = ["v1", "v2"]
        .into_iter()
        .flat_map(|version| entries(fixtures().join("calls").join(version)).collect::<Vec<_>>());
    let files = endpoints.flat_map(entries);
    files.filter(|file| file.extension().is_some_and(|ending| ending == "http")).collect()
}

fn assert_charged(nodes: &Nodes, credits: u64) {
    let proof = nodes.json("b", &["ledger", "verify"]);
    assert_eq!((&proof["ok"], &proof["charged"]), (&true.into(), &Value::from(credits)), "{proof}");
}

#[test]
fn three_nodes_in_turn_answer_every_recorded_call() {
    let Some(url) = fresh() else { return };
    let (nodes, servers) = three(url);
    let (secrets, _) = load_or_create_secrets(&nodes.data("a")).unwrap();
    let ports = CommandPorts::open(&nodes.url, &secrets).unwrap();
    let calls = calls();
    let endpoints: BTreeSet<_> = calls.iter().map(|file| file.parent()).collect();
    assert_eq!(endpoints.len(), 29);
    let mut charged = 0;
    let mut different = Vec::new();
    for (file, server) in calls.iter().zip(servers.iter().cycle()) {
        match compare(&send(&ports, server.address, file), file) {
            Ok(credits) => charged += credits,
            Err(difference) => different.push(difference),
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
    assert_charged(&nodes, charged);
}

#[test]
fn the_last_credits_asked_of_three_servers_are_given_to_the_credit() {
    let Some(url) = fresh() else { return };
    let (nodes, servers) = three(url);
    let (account, key) = nodes.account("40");
    let ask = |server: SocketAddr| {
        let statuses = (0..10).map(|_| look_up(server, &key, "Telefónica").status);
        statuses.collect::<Vec<_>>()
    };
    let statuses: Vec<u16> = thread::scope(|scope| {
        let asked: Vec<_> = servers
            .iter()
            .cycle()
            .take(9)
            .map(|server| scope.spawn(|| ask(server.address)))
            .collect();
        asked.into_iter().flat_map(|asked| asked.join().unwrap()).collect()
    });
    let count = |status| statuses.iter().filter(|it| **it == status).count();
    assert_eq!((count(200), count(400)), (40, 50), "{statuses:?}");
    assert_eq!(nodes.json("c", &["credits", "show", &account])["balance"], 0);
    assert_charged(&nodes, 40);
}
