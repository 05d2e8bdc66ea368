//! Tests of an account that sends too many searches at the same time. The excess searches are
//! refused and cost nothing. The look-ups and searches of other accounts are still answered.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "what fails here fails a test, helpers of the tests included"
)]

#[path = "support/server.rs"]
#[allow(dead_code, reason = "these tests end their server in one way, others in another")]
mod server;

use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use serde_json::json;

use enrich_testkit::http::{Call, Reply};
use server::{Server, import_fixtures, json_of, text};

/// The number of requests in a wave. This is twice the number of searches of one account that may
/// wait at the same time.
const FLOODERS: usize = 512;
/// The minimum number of waves in the flood. A wave is [`FLOODERS`] requests at the same time.
const WAVES: usize = 4;
/// The maximum number of waves. The flood then ends, even if no request was refused.
const MAX_WAVES: usize = 40;
/// The number of clients that send calls of another account during the flood. Each client sends its
/// calls one after the other.
const OTHERS: usize = 4;
/// The credits of each account: more than the test uses.
const GRANTED: u64 = 1_000_000;

/// A misspelt company name, and the company's domain. The name is searched for, found and charged.
const MISSPELT: (&str, &str) = ("Northmoor Lantrens", "northmoor-lanterns.example");

/// A name whose search is very expensive: many companies have one of its words, but no company has
/// all of them.
const NOBODY: &str = "Royal Bank Commercial International Airlines Canada Commonwealth Electronics \
                      Motors Industries Consultancy Pacific Mercado Turkish Deutsche Telekom";

/// How many searches of the flood found a company (`found`), found nothing (`missed`), or were
/// refused.
#[derive(Debug, Default)]
struct Flooded {
    found: u64,
    missed: u64,
    refused: u64,
}

/// When dropped, marks the flood as over.
struct OverWhenDropped<'a>(&'a AtomicBool);

impl Drop for OverWhenDropped<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

#[test]
fn a_flood_of_searches_is_refused_for_nothing_and_holds_up_nobody_else() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    import_fixtures(&data);
    let (flooder, flooding_key) = create_account(&data, "Flooder");
    let (other, other_key) = create_account(&data, "Other");
    let server = Server::start(&data, &folder.path().join("server.log"), &[]);
    let (address, is_over) = (server.address, AtomicBool::new(false));
    let (flooded, answered) = thread::scope(|scope| {
        let others: Vec<_> = (0..OTHERS)
            .map(|_| scope.spawn(|| ask_until_over(address, &other_key, &is_over)))
            .collect();
        let flooded = {
            // If the flood fails, it must also be marked as over, so that the other clients stop.
            let _over = OverWhenDropped(&is_over);
            flood(address, &flooding_key)
        };
        let answered: u64 = others.into_iter().map(|other| other.join().unwrap()).sum();
        (flooded, answered)
    });
    println!("{flooded:?}; {answered} answers to others");
    assert!(flooded.refused > 0, "too little load to prove anything: {flooded:?}");
    assert!(flooded.found > 0 && flooded.missed > 0, "nothing was searched for: {flooded:?}");

    // After the flood, a search of the flooding account is answered again.
    check(&search(&flooding_key, 0).send(address).unwrap(), 0, &mut Flooded::default());
    server.stop();
    let charged = flooded.found + 1;
    assert_eq!(balance(&data, &flooder), GRANTED - charged);
    assert_eq!(balance(&data, &other), GRANTED - answered);
    let said = json_of(&data, &["ledger", "verify"]);
    let sums = json!([said["ok"], said["granted"], said["charged"], said["charges"]]);
    let all = charged + answered;
    assert_eq!(sums, json!([true, 2 * GRANTED, all, all]), "ledger verify said {said}");
}

/// Sends waves of concurrent searches: at least [`WAVES`] waves, and then further waves until the
/// server has refused a search. Stops after [`MAX_WAVES`] waves, even if no search was refused.
fn flood(server: SocketAddr, key: &str) -> Flooded {
    let mut flooded = Flooded::default();
    for wave in 0..MAX_WAVES {
        if wave >= WAVES && flooded.refused > 0 {
            break;
        }
        for (number, reply) in replies(server, key).iter().enumerate() {
            check(reply, number, &mut flooded);
        }
    }
    flooded
}

/// Sends one wave, and returns its answers. All connections are open before the first request is
/// sent.
fn replies(server: SocketAddr, key: &str) -> Vec<Reply> {
    let start = Barrier::new(FLOODERS);
    thread::scope(|scope| {
        let send = |number: usize| {
            let stream = TcpStream::connect(server);
            start.wait();
            search(key, number).send_over(stream.unwrap()).unwrap()
        };
        let clients: Vec<_> =
            (0..FLOODERS).map(|number| scope.spawn(move || send(number))).collect();
        clients.into_iter().map(|client| client.join().unwrap()).collect()
    })
}

/// Returns a look-up that needs a search. A look-up with an even number finds a company.
fn search(key: &str, number: usize) -> Call {
    let name = if number.is_multiple_of(2) { MISSPELT.0 } else { NOBODY };
    Call::post("/v1/cuf").json(&json!({ "apiKey": key, "companyName": name }))
}

/// Checks that a search was answered correctly, or was refused and cost nothing.
fn check(reply: &Reply, number: usize, flooded: &mut Flooded) {
    let url = if number.is_multiple_of(2) { MISSPELT.1 } else { "" };
    let used = reply.number("X-Credits-Used");
    match reply.status {
        200 => {
            assert_eq!(reply.json()["url"], url, "{reply:?}");
            assert_eq!(used, Some(i64::from(!url.is_empty())), "{reply:?}");
            let count = if url.is_empty() { &mut flooded.missed } else { &mut flooded.found };
            *count += 1;
        }
        503 => {
            assert_eq!((used, reply.number("Retry-After")), (Some(0), Some(1)), "{reply:?}");
            assert_eq!(reply.json()["type"], "api_error", "{reply:?}");
            flooded.refused += 1;
        }
        _ => panic!("a search was answered {reply:?}"),
    }
}

/// Sends three look-ups again and again until the flood is over: by a domain, by the exact name of
/// a company, and by a misspelt name, which needs a search. Returns how many look-ups it sent.
fn ask_until_over(server: SocketAddr, key: &str, is_over: &AtomicBool) -> u64 {
    let by_domain = Call::post("/v1/dtc")
        .json(&json!({ "apiKey": key, "companyWebsite": "northmoor-lanterns.example" }));
    let by_name = Call::post("/v1/cuf")
        .json(&json!({ "apiKey": key, "companyName": "Northmoor Lanterns Ltd" }));
    let searched = search(key, 0);
    let calls = [
        (by_domain, "Northmoor Lanterns Ltd"),
        (by_name, "northmoor-lanterns.example"),
        (searched, MISSPELT.1),
    ];
    let mut answered = 0;
    while !is_over.load(Ordering::SeqCst) {
        for (call, url) in &calls {
            let reply = call.send(server).unwrap();
            assert_eq!(reply.status, 200, "{call:?}: {reply:?}");
            assert_eq!(reply.json()["url"], *url, "{call:?}: {reply:?}");
            assert_eq!(reply.number("X-Credits-Used"), Some(1), "{call:?}: {reply:?}");
            answered += 1;
        }
    }
    answered
}

fn create_account(data: &Path, name: &str) -> (String, String) {
    let said = json_of(data, &["account", "create", name, "--credits", &GRANTED.to_string()]);
    (text(&said, "account"), text(&said, "key"))
}

fn balance(data: &Path, account: &str) -> u64 {
    let accounts = json_of(data, &["account", "list"]);
    let all = accounts.as_array().unwrap().iter();
    let mut its = all.filter(|listed| listed["account"] == account);
    its.next().and_then(|listed| listed["balance"].as_u64()).unwrap()
}
