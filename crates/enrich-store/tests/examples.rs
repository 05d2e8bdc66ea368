//! Checks that the examples run and print the expected output.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::path::PathBuf;
use std::process::Command;

/// Runs an example, which Cargo builds together with the tests. Returns its output.
fn run(example: &str) -> String {
    let test = std::env::current_exe().unwrap();
    // This test is `target/debug/deps/examples-…`; the examples are in `target/debug/examples`.
    let built: PathBuf = test.parent().unwrap().parent().unwrap().join("examples").join(example);
    let output = Command::new(&built).output();
    let output = output.unwrap_or_else(|error| {
        unreachable!("{}: {error}; run `cargo build --examples` first", built.display())
    });
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_program_looks_up_a_domain_for_a_credit() {
    assert_eq!(run("embed"), "Some(\"quill.example\"), credits left: 9\n");
}

#[test]
fn a_program_under_tokio_limits_a_list_and_repeats_it_for_nothing() {
    let emails = r#"["info@quill.example", "jobs@quill.example", "press@quill.example"]"#;
    let expected = format!(
        "{emails}, used: 2, left: 8\n{emails}, used: 0, left: 8\nNone, used: 0\n8 are too few\n"
    );
    assert_eq!(run("embed_tokio"), expected);
}
