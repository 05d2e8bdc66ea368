//! Tests of servers that answer from snapshots of the look-up data.

use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use enrich_testkit::http::Call;
use serde_json::{Value, json};

use super::process::Process;
use super::{Nodes, fresh};

/// Time limit for a change to take effect. It is long enough even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Returns the folder to which snapshots are published. Creates the folder if it does not exist.
fn location(nodes: &Nodes) -> PathBuf {
    let location = nodes.folder.path().join("location");
    fs::create_dir_all(&location).unwrap();
    location.canonicalize().unwrap()
}

fn publish(nodes: &Nodes) -> Value {
    nodes.json("a", &["directory", "publish", location(nodes).to_str().unwrap()])
}

fn import(nodes: &Nodes, name: &str) {
    let domain = format!("{}.example", name.to_lowercase());
    let record = json!({ "type": "company", "name": name, "domains": [domain] });
    let file = nodes.folder.path().join(format!("{name}.jsonl"));
    fs::write(&file, format!("{record}\n")).unwrap();
    nodes.json("a", &["import", file.to_str().unwrap()]);
}

/// Starts the server of a node. The data folder of a new node contains only the secrets
/// (`secret.key`).
fn serve(nodes: &Nodes, node: &str) -> Process {
    let data = nodes.data(node);
    if !data.exists() {
        fs::create_dir(&data).unwrap();
        fs::copy(nodes.data("a").join("secret.key"), data.join("secret.key")).unwrap();
    }
    nodes.serve(node, &["--directory-from", location(nodes).to_str().unwrap()])
}

/// Returns the answer of `/v1/company_enrichment`; `None` if the company was not found.
fn company(server: SocketAddr, key: &str, name: &str) -> Option<Value> {
    let body = json!({ "apiKey": key, "companyName": name });
    let reply = Call::post("/v1/company_enrichment").json(&body).send(server).unwrap();
    assert_eq!(reply.status, 200, "{reply:?}");
    let answer = reply.json();
    (answer["domain"] != "").then_some(answer)
}

fn wait_until(what: &str, is_so: impl Fn() -> bool) -> Duration {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "{what}");
        thread::sleep(Duration::from_millis(20));
    }
    begun.elapsed()
}

#[test]
fn nodes_answer_from_the_snapshot_in_use() {
    let Some(url) = fresh() else { return };
    let nodes = Nodes::over(url);
    let (_, key) = nodes.account("100000");
    let words = ["serve", "--listen", "127.0.0.1:0", "--one-copy", "--directory-from", "."];
    nodes.run("a", &words).refused(2, "no directory is published yet");
    nodes.run_at("c", None, &words).refused(2, "name --store");

    assert_eq!(publish(&nodes)["number"], 1);
    let servers = [serve(&nodes, "b"), serve(&nodes, "c")].map(|server| (server.address, server));
    let all = |is_so: &dyn Fn(SocketAddr) -> bool| servers.iter().all(|(at, _)| is_so(*at));
    assert!(all(&|at| company(at, &key, "Quill Ltd").is_some()));
    assert!(all(&|at| company(at, &key, "Inkwell").is_none()));
    wait_until("both nodes show their snapshot", || {
        nodes.json("b", &["directory", "list"])[0]["nodes"] == 2
    });

    import(&nodes, "Inkwell");
    assert_eq!(publish(&nodes)["number"], 2);
    wait_until("the new snapshot is there", || all(&|at| company(at, &key, "Inkwell").is_some()));

    let used = nodes.run("b", &["directory", "use", "1"]);
    assert_eq!((used.status, used.out.as_str()), (0, "nodes change to snapshot 1\n"), "{used:?}");
    wait_until("the earlier one is there", || all(&|at| company(at, &key, "Inkwell").is_none()));
    nodes.run("b", &["directory", "use", "7"]).refused(1, "there is no snapshot 7");
    let listed = nodes.json("b", &["directory", "list"]);
    assert_eq!((&listed[0]["in_use"], &listed[1]["in_use"]), (&false.into(), &true.into()));
    assert_eq!(listed[1]["location"], location(&nodes).to_str().unwrap());

    // The file of snapshot 2 is deleted from the folder to which it was published. A server that is
    // started again can still answer from snapshot 2, because its data folder has a copy.
    let [(_, first), (_, second)] = servers;
    for server in [first, second] {
        server.signal("TERM");
        let (status, log) = server.ended(PATIENCE);
        assert!(status.success(), "{log}");
    }
    nodes.json("b", &["directory", "use", "2"]);
    fs::remove_file(location(&nodes).join("directory-2.sqlite.zst")).unwrap();
    let server = serve(&nodes, "b");
    assert!(company(server.address, &key, "Inkwell").is_some());
}

#[test]
fn the_folder_of_a_node_with_snapshots_is_checked() {
    let Some(url) = fresh() else { return };
    let nodes = Nodes::over(url);
    nodes.add("b");
    let config = nodes.folder.path().join("enrich.toml");
    fs::write(&config, format!("directory_from = {:?}\n", location(&nodes))).unwrap();
    let check = ["check", "--config", config.to_str().unwrap()];
    let has_problem = |problem: &str| {
        let said = nodes.run("b", &check);
        assert!(said.status == 1 && said.out.contains(problem), "{said:?}");
        assert!(!format!("{said:?}").contains("directory.sqlite;"), "{said:?}");
    };
    has_problem("no directory is published yet");
    publish(&nodes);
    has_problem("snapshot 1 is in use and not in this folder yet");
    drop(serve(&nodes, "b"));
    assert_eq!(nodes.json("b", &check)["snapshot"], 1);
    // Even if the command is not told where snapshots are published, it sees from the data folder
    // that the node answers from snapshots.
    let said = nodes.run("b", &["check"]);
    assert!(said.status == 0 && said.out.ends_with("all is well\n"), "{said:?}");
    let file = nodes.data("b").join("snapshots/directory-1.sqlite");
    fs::write(&file, "short").unwrap();
    has_problem("is damaged; restart the server");
}

#[test]
fn a_forgotten_address_is_gone_from_all_nodes_within_two_seconds() {
    let Some(url) = fresh() else { return };
    let nodes = Nodes::over(url);
    let (_, key) = nodes.account("100000");
    publish(&nodes);
    let servers = [serve(&nodes, "b"), serve(&nodes, "c")];
    let has_address = |at| {
        let answer = company(at, &key, "Quill Ltd").unwrap();
        answer.to_string().contains("info@quill.example")
    };
    assert!(servers.iter().all(|server| has_address(server.address)));
    assert_eq!(nodes.json("a", &["forget", "info@quill.example"])["values"], 1);
    let took = wait_until("the address is gone", || {
        !servers.iter().any(|server| has_address(server.address))
    });
    assert!(took < Duration::from_secs(2), "{took:?}");

    // The data folder of node `b` has no look-up data. If `forget` runs on such a folder, all nodes
    // forget the value, and the command says what remains to do on the machine that imports.
    let said = nodes.run("b", &["forget", "quill.example"]);
    assert!(said.status == 0 && said.err.contains("the machine that imports"), "{said:?}");
    wait_until("the domain is gone", || {
        servers.iter().all(|server| company(server.address, &key, "Quill Ltd").is_none())
    });
}

#[test]
fn a_suppression_list_reaches_all_nodes_from_the_machine_that_imports() {
    let Some(url) = fresh() else { return };
    let nodes = Nodes::over(url);
    let (_, key) = nodes.account("100000");
    publish(&nodes);
    let servers = [serve(&nodes, "b"), serve(&nodes, "c")];
    // The list has one entry: the MD5 hash of `info@quill.example`.
    let list = nodes.folder.path().join("list.txt");
    fs::write(&list, "bcce1dccdfbb7b4b6f7b070501259f78\n").unwrap();
    let forget = ["forget", "--list", list.to_str().unwrap()];
    nodes.run("b", &forget).refused(2, "a list is loaded on the machine that imports");
    assert_eq!(nodes.json("a", &forget)["values"], 1);
    wait_until("the address is gone", || {
        servers.iter().all(|server| {
            let answer = company(server.address, &key, "Quill Ltd").unwrap();
            !answer.to_string().contains("info@quill.example")
        })
    });
}
