//! Tests the rules for the admin pages (`/healthz`, `/readyz` and `/metrics`), and for the
//! addresses at which they are served.

use std::net::SocketAddr;
use std::net::TcpListener;

use crate::world::World;
use enrich_testkit::http::{Call, Reply};

const PAGES: [&str; 3] = ["/healthz", "/readyz", "/metrics"];

#[test]
fn pages_are_served_to_get_alone() {
    let world = World::new(&[]);
    for page in PAGES {
        let reply = plain(&Call::new("GET", page), world.address());
        world.holds(&format!("GET {page}"), reply.status == 200, &reply);
        for method in ["POST", "PUT", "DELETE"] {
            let reply = plain(&Call::new(method, page), world.address());
            let allowed = reply.header("Allow");
            let refused = reply.status == 405 && allowed == Some("GET");
            world.holds(&format!("{method} {page}: 405 with `Allow: GET`"), refused, &reply);
        }
    }
    world.finish();
}

#[test]
fn metrics_tell_something_and_no_secrets() {
    let world = World::new(&[]);
    let account = world.account(5);
    world.ask(&account, "/v1/etn", &[("email", "zoe.brandstaetter@quillmark.example")]);
    let reply = plain(&Call::new("GET", "/metrics"), world.address());
    let told = reply.body.lines().any(|line| !line.starts_with('#') && line.contains(' '));
    world.holds("/metrics holds samples", told, &reply);
    let secret = reply.body.contains(&account.key) || reply.body.contains("brandstaetter");
    world.holds("/metrics holds no keys and no inputs", !secret, &reply);
    let log = world.log();
    if log.contains("brandstaetter") || log.contains("Brandstätter") {
        world.note("the log holds what was asked for or found".to_owned());
    }
    world.finish();
}

#[test]
fn with_an_admin_address_pages_are_served_there_and_only_there() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let admin = free.local_addr().unwrap();
    drop(free);
    let world = World::new(&["--admin-listen", &admin.to_string()]);
    let account = world.account(5);
    for page in PAGES {
        let reply = plain(&Call::new("GET", page), admin);
        world.holds(&format!("GET {page} on the admin address"), reply.status == 200, &reply);
        world.has_status(&format!("GET {page} on the public one"), &Call::new("GET", page), 404);
    }
    let call = world.call("/v1/cuf", &account.key, &[("companyName", "Telefónica")]);
    world.has_status("look-ups on the public address", &call, 200);
    let reply = plain(&call, admin);
    world.holds("no look-ups on the admin address", reply.status == 404, &reply);
    world.finish();
}

/// Sends a call. Unlike [`World::send`], does not check the rules that apply to every answer of an
/// endpoint, because the admin pages are not endpoints.
fn plain(call: &Call, address: SocketAddr) -> Reply {
    call.send(address).unwrap_or_else(|error| panic!("no answer ({error}) to {call:?}"))
}
