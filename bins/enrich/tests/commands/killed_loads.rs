//! Checks that a large import can be repeated after it was killed.

use std::io::Write as _;
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

use enrich_testkit::generate::Generator;
use serde_json::{Value, json};

use crate::fixture::{Fixture, feed};

const KILLS: usize = 20;
/// The number of records that the test imports. They are several batches, so some kills come before
/// a commit, some during it and some after it.
const RECORDS: usize = 16_000;
/// The number of the kill that certainly comes after a commit, counted from 0. Before this kill,
/// the test waits until the import has stored records. The import commits while its input is still
/// open, because the input is more than two batches.
const AFTER_A_COMMIT: usize = 11;
const LOAD: [&str; 4] = ["import", "-", "--source", "register"];

/// Starts an import, writes `lines` to its input, and kills the import while the input is still
/// open. `kill` is the number of the kill, counted from 0.
fn load_and_kill(fixture: &Fixture, lines: &[String], kill: usize) {
    let mut child = fixture.command(&LOAD).stdin(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(lines.concat().as_bytes()).unwrap();
    let is_stored = || !fixture.json(&["source", "list"]).as_array().unwrap().is_empty();
    while kill == AFTER_A_COMMIT && !is_stored() {
        sleep(Duration::from_millis(20));
    }
    // If no input arrives for 50 ms, the import commits the records that it has read. So some kills
    // come before the commit, some during it and some after it.
    sleep(Duration::from_millis(25 * (kill as u64 % 5)));
    assert!(child.try_wait().unwrap().is_none(), "the load has ended before kill {kill}");
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Runs the import to its end and returns its report.
fn load(fixture: &Fixture, lines: &[String]) -> Value {
    let mut command = fixture.command(&[&LOAD[..], &["--json"]].concat());
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    feed(&mut child, &lines.concat());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Returns the counts of the look-up data, as `enrich check` prints them. The check must find no
/// fault.
fn checked(fixture: &Fixture) -> Value {
    let report = fixture.json(&["check"]);
    assert_eq!(report["ok"], true, "{report}");
    report["directory"]["counts"].clone()
}

#[test]
fn a_load_that_is_killed_at_twenty_points_is_completed_by_the_same_command() {
    let generator = Generator::new(19);
    let line = |index| format!("{}\n", generator.company(index));
    let lines: Vec<String> = (0..RECORDS as u64).map(line).collect();
    let (killed, whole) = (Fixture::new(), Fixture::new());
    for kill in 0..KILLS {
        load_and_kill(&killed, &lines[..lines.len() * (kill + 1) / KILLS], kill);
        let companies = checked(&killed)["companies"].as_u64().unwrap();
        assert!(companies < RECORDS as u64, "kill {kill}: {companies} companies");
        assert!(companies > 0 || kill < AFTER_A_COMMIT, "kill {kill}");
    }
    let report = load(&killed, &lines);
    let sum = report["added"].as_u64().unwrap() + report["unchanged"].as_u64().unwrap();
    assert_eq!((report["read"].clone(), sum), (json!(RECORDS), RECORDS as u64), "{report}");
    load(&whole, &lines);
    assert_eq!(checked(&killed), checked(&whole));
    let again = load(&killed, &lines);
    assert_eq!(again["unchanged"], json!(RECORDS), "{again}");
}
