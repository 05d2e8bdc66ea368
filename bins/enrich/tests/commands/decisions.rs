//! Tests of `enrich duplicates`, `merge`, `split` and `decision`.

use serde_json::{Value, json};

use crate::fixture::{Fixture, text};

/// Creates a folder with the companies of two sources. Both sources have a company Quill with the
/// same domain, but with different ids in the register `reg`. So these are two companies. Both
/// sources also have a company Ink, without an id in a register. These two records are one
/// company.
fn two_sources() -> Fixture {
    let fixture = Fixture::new();
    let lines = |records: &[Value]| -> String {
        records.iter().map(|record| format!("{record}\n")).collect()
    };
    let first = [
        json!({"type": "company", "id": "1", "name": "Quill", "domains": ["quill.example"], "ids": {"reg": "1"}}),
        json!({"type": "company", "id": "2", "name": "Ink", "domains": ["ink.example"]}),
    ];
    let second = [
        json!({"type": "company", "id": "Q1", "name": "Quill", "domains": ["quill.example"], "ids": {"reg": "2"}}),
        json!({"type": "company", "id": "Q2", "name": "Ink", "domains": ["ink.example"]}),
    ];
    fixture.file("a.jsonl", lines(&first));
    fixture.file("b.jsonl", lines(&second));
    import_again(&fixture, &[]);
    fixture
}

/// Removes sources, and then imports both files.
fn import_again(fixture: &Fixture, removed: &[&str]) {
    for source in removed {
        assert_eq!(fixture.run(&["source", "remove", source]).status, 0);
    }
    for file in ["a.jsonl", "b.jsonl"] {
        let ran = fixture.run(&["import", file]);
        assert_eq!(ran.status, 0, "{ran:?}");
    }
}

fn companies(fixture: &Fixture) -> Value {
    fixture.json(&["stats"])["subjects"]["companies"].clone()
}

#[test]
fn a_merge_holds_after_another_import_and_reindex_until_it_is_undone() {
    let fixture = two_sources();
    assert_eq!(companies(&fixture), 3);
    let merge = ["merge", "reg:1", "reg:2"];
    let dry = fixture.json(&[&merge[..], &["--dry-run"]].concat());
    assert_eq!((&dry["decision"], companies(&fixture)), (&Value::Null, json!(3)));
    assert_eq!(dry["records"].as_array().unwrap().len(), 2, "{dry}");
    let made = fixture.json(&merge);
    assert_eq!((&made["decision"], &made["kind"]), (&json!(1), &json!("merge")));
    assert_eq!(made["companies"][0]["ids"], json!(["reg:1", "reg:2"]), "{made}");
    assert_eq!(companies(&fixture), 2);
    import_again(&fixture, &["a.jsonl"]);
    assert_eq!(companies(&fixture), 2);
    assert_eq!(fixture.run(&["reindex"]).status, 0);
    assert_eq!(companies(&fixture), 2);
    let listed = fixture.json(&["decision", "list"]);
    assert_eq!(listed[0]["sides"][0][0]["id"], "1", "{listed}");
    assert!(fixture.run(&["decision", "list"]).out.contains("Quill (b.jsonl Q1)"));
    let refused = fixture.run(&merge);
    assert_eq!(refused.status, 1, "{refused:?}");
    assert!(refused.err.contains("already one company"), "{refused:?}");
    // A split that contradicts a merge is refused: the merge must be undone first.
    let refused = fixture.run(&["split", "reg:1", "reg:2"]);
    assert_eq!(refused.status, 1, "{refused:?}");
    assert!(refused.err.contains("enrich decision undo 1"), "{refused:?}");
    let undone = fixture.json(&["decision", "undo", "1"]);
    assert_eq!(undone["companies"].as_array().unwrap().len(), 2, "{undone}");
    assert_eq!(companies(&fixture), 3);
    assert_eq!(fixture.run(&["decision", "undo", "1"]).status, 1);
    assert_eq!(fixture.json(&["decision", "list"]), json!([]));
}

#[test]
fn a_split_holds_after_another_import_and_reindex_until_it_is_undone() {
    let fixture = two_sources();
    let records = fixture.json(&["split", "ink.example"]);
    let shown: Vec<String> =
        records.as_array().unwrap().iter().map(|it| text(&it["source"])).collect();
    assert_eq!(shown, ["a.jsonl", "b.jsonl"]);
    let split = ["split", "ink.example", "--record", "b.jsonl:Q2"];
    assert_eq!(fixture.json(&[&split[..], &["--dry-run"]].concat())["decision"], Value::Null);
    assert_eq!(companies(&fixture), 3);
    let made = fixture.json(&split);
    assert_eq!(made["companies"].as_array().unwrap().len(), 2, "{made}");
    assert_eq!(companies(&fixture), 4);
    import_again(&fixture, &["a.jsonl", "b.jsonl"]);
    assert_eq!(companies(&fixture), 4);
    assert_eq!(fixture.run(&["reindex"]).status, 0);
    assert_eq!(companies(&fixture), 4);
    // Two companies have the name `Ink` and the domain `ink.example`. So the user must give the
    // number of the company.
    let refused = fixture.run(&["merge", "Ink", "ink.example"]);
    assert_eq!(refused.status, 1, "{refused:?}");
    assert!(refused.err.contains("name one by its number: company:"), "{refused:?}");
    let shown = fixture.json(&["duplicates", "--kind", "host-and-name"]);
    let pair = |name: &str| {
        let pairs = shown["pairs"].as_array().unwrap();
        pairs.iter().find(|pair| pair["companies"][0]["name"] == name).unwrap().clone()
    };
    let ink = pair("Ink");
    assert_eq!(ink["why"], "Decision 1 keeps them apart.");
    let numbers: Vec<String> = (0..2).map(|at| text(&ink["companies"][at]["company"])).collect();
    let refused = fixture.run(&["merge", &numbers[0], &numbers[1]]);
    assert!(refused.err.contains("enrich decision undo 1"), "{refused:?}");
    assert_eq!(fixture.json(&["decision", "undo", "1"])["kind"], "split");
    assert_eq!(companies(&fixture), 3);
}

#[test]
fn companies_that_look_alike_are_listed_with_the_reason_and_counted() {
    let fixture = two_sources();
    let shown = fixture.json(&["duplicates"]);
    assert_eq!(shown["pairs"].as_array().unwrap().len(), 1, "{shown}");
    let pair = &shown["pairs"][0];
    assert_eq!(
        (&pair["kind"], &pair["shared"]),
        (&json!("host-and-name"), &json!("quill.example"))
    );
    assert_eq!(pair["why"], "They have different ids in one scheme: reg:1 and reg:2.");
    let counted = |counts: &Value| {
        let counts = counts.as_array().unwrap();
        counts.iter().find(|it| it["kind"] == "host-and-name").unwrap().clone()
    };
    let expected = json!({"kind": "host-and-name", "groups": 1, "pairs": 1});
    assert_eq!(counted(&shown["counts"]), expected);
    assert_eq!(counted(&fixture.json(&["stats"])["unmerged"]), expected);
    let none = fixture.json(&["duplicates", "--limit", "0"]);
    assert_eq!((counted(&none["counts"]), &none["pairs"]), (expected, &json!([])));
    let of_ink = fixture.json(&["duplicates", "ink.example"]);
    assert_eq!(of_ink["pairs"], json!([]));
    let of_quill = fixture.json(&["duplicates", "reg:2"]);
    assert_eq!(of_quill["pairs"], shown["pairs"]);
    let told = fixture.run(&["duplicates"]).out;
    assert!(told.starts_with("host-and-name quill.example: Quill (company:"), "{told}");
    assert!(told.contains("\nhost-and-name         1      1\n"), "{told}");
    assert!(fixture.run(&["stats"]).out.contains("LOOK ALIKE BY"));
}

#[test]
fn a_company_that_is_not_there_is_refused() {
    let fixture = two_sources();
    for words in [
        &["merge", "quill.example", "nobody.example"][..],
        &["merge", "reg:1", "company:99"],
        &["split", "Nobody"],
        &["split", "ink.example", "--record", "c.jsonl"],
        &["split", "ink.example", "--record", "ink.example"],
        &["duplicates", "reg:3"],
    ] {
        let ran = fixture.run(words);
        assert_eq!((ran.status, ran.out.as_str()), (1, ""), "{words:?}: {ran:?}");
    }
    assert_eq!(fixture.run(&["merge", "reg:1"]).status, 2);
    assert_eq!(fixture.run(&["split", "lei:1"]).status, 2);
}
