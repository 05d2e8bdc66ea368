//! Compares the records that every built-in mapping makes from its fixtures with snapshots.

use enrich_mapping::{Outcome, Settings, built_ins};
use serde_json::Value;

use crate::reader::fixtures;

#[test]
fn every_built_in_source_gives_its_native_records() {
    for fixture in fixtures() {
        let mut lines = Vec::new();
        for mapped in fixture.mapped(&Settings::default()) {
            match mapped.outcome {
                Outcome::Records(records) => {
                    let texts = records.into_iter().map(|it| Value::Object(it).to_string());
                    lines.extend(texts);
                }
                Outcome::Skipped(reason) => lines.push(format!("skipped: {reason}")),
            }
            lines.extend(mapped.notes.iter().map(|note| format!("left out: {note}")));
        }
        let file = fixture.path.components().rev().take(2).collect::<Vec<_>>();
        let names: Vec<_> = file.iter().rev().map(|it| it.as_os_str().to_str().unwrap()).collect();
        insta::assert_snapshot!(names.join("-"), lines.join("\n"));
    }
}

#[test]
fn every_built_in_source_has_a_fixture() {
    let fixtures = fixtures();
    for mapping in built_ins() {
        let name = &mapping.source().name;
        assert!(fixtures.iter().any(|fixture| fixture.source == *name), "{name}");
    }
}
