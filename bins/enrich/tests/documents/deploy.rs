//! Tests of the files in `deploy/`: the program has the commands and variables that the files use,
//! and the files agree with each other.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::commands::{complaint, of_program};
use crate::document_page::root;

fn folder() -> PathBuf {
    root().join("deploy")
}

fn read(name: &str) -> String {
    fs::read_to_string(folder().join(name)).unwrap()
}

#[test]
fn the_program_understands_every_command_of_a_deployment() {
    let mut seen = Vec::new();
    for entry in fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        let Ok(text) = fs::read_to_string(&path) else { continue };
        for line in text.lines() {
            let line = line.trim_start_matches(['#', ' ']);
            // In `docker compose … exec node1 enrich …`, the command that runs in the container is
            // the part after `node1`.
            let line = line.split_once(" exec node1 ").map_or(line, |(_, command)| command);
            for words in of_program(line, "enrich") {
                let complaint = complaint(&words);
                assert!(complaint.is_none(), "{}: {line}\n{complaint:?}", path.display());
                seen.push(words[0].clone());
            }
        }
    }
    assert!(seen.contains(&"store".to_owned()), "{seen:?}");
    assert!(seen.contains(&"account".to_owned()), "{seen:?}");
}

#[test]
fn the_image_starts_the_server_by_variables_that_it_reads() {
    let dockerfile = read("Dockerfile");
    for line in ["ENTRYPOINT [\"enrich\"]", "CMD [\"serve\"]"] {
        assert!(dockerfile.lines().any(|it| it == line), "{line}");
    }
    let help = Command::new(env!("CARGO_BIN_EXE_enrich")).args(["serve", "--help"]).output();
    let help = String::from_utf8(help.unwrap().stdout).unwrap();
    let is_part = |letter: char| letter.is_ascii_uppercase() || letter == '_';
    let mut seen = 0;
    for text in [dockerfile, read("compose.yaml")] {
        for name in text.split(|letter| !is_part(letter)) {
            if name.starts_with("ENRICH_") {
                seen += 1;
                assert!(help.contains(&format!("env: {name}")), "{name} is no variable");
            }
        }
    }
    assert!(seen >= 4, "{seen} variables");
}

#[test]
fn the_files_that_are_mounted_are_there_and_the_ports_agree() {
    let compose = read("compose.yaml");
    let mounts = compose.lines().filter_map(|line| line.trim().strip_prefix("- ./"));
    let mut seen = 0;
    for mount in mounts {
        let file = mount.split(':').next().unwrap();
        assert!(folder().join(file).exists(), "{file}");
        seen += 1;
    }
    assert!(seen >= 4, "{seen} files");
    let (dockerfile, proxy) = (read("Dockerfile"), read("haproxy.cfg"));
    assert!(dockerfile.contains("ENRICH_LISTEN=:8080 ENRICH_ADMIN_LISTEN=:9090"));
    assert!(dockerfile.contains("http://127.0.0.1:9090/readyz"));
    assert!(proxy.contains("check port 9090") && proxy.contains("node1:8080"));
}
