//! One or two rounds of each torture of the ledger in PostgreSQL.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::process::Command;

use enrich_testkit::postgres::skip_without_postgres;

/// If PostgreSQL is installed, runs a torture. Checks that it succeeds and that its summary reports
/// no lost charge.
fn torture(arguments: &[&str]) {
    if skip_without_postgres() {
        return;
    }
    let mut torture = Command::new(env!("CARGO_BIN_EXE_enrich-torture"));
    let output = torture.arg("pg").args(arguments).args(["--clients", "16"]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    let is_lossless =
        |line: &str| line.starts_with("  acknowledged and lost") && line.ends_with(" 0");
    assert!(text.lines().any(is_lossless), "{text}");
}

#[test]
fn no_acknowledged_charge_is_lost_by_a_failover() {
    torture(&["failover", "--rounds", "2"]);
}

#[test]
fn no_acknowledged_charge_is_lost_when_a_node_is_killed() {
    torture(&["node", "--rounds", "2"]);
}

#[test]
fn no_acknowledged_charge_is_lost_when_connections_are_cut() {
    torture(&["cut", "--rounds", "2"]);
}
