//! Checks that texts from users are never treated as HTML: every page shows them as plain text.

use enrich_core::port::accounts::Accounts;
use enrich_core::{Clock, DirectoryRevision, EntryKind, Price};
use enrich_dashboard::{Method, pages};

use crate::world::World;

/// Texts of known attacks on HTML pages, one on each line. They are based on OWASP's cheat sheet on
/// filter evasion.
const TEXTS: &str = include_str!("xss.txt");

pub(crate) fn texts() -> Vec<&'static str> {
    let texts: Vec<&str> = TEXTS.lines().filter(|line| !line.is_empty()).collect();
    assert!(texts.len() >= 50, "{}", texts.len());
    texts
}

/// Returns a text as it must appear in HTML.
pub(crate) fn escaped(text: &str) -> String {
    let text = text.replace('&', "&#38;").replace('<', "&#60;").replace('>', "&#62;");
    text.replace('"', "&#34;").replace('\'', "&#39;")
}

#[test]
fn names_labels_ids_and_inputs_show_as_text_on_every_page() {
    for text in texts() {
        let world = World::new();
        let mut owner = world.owner(text, "ada@quill.example");
        pollster::block_on(world.ports.set_label(owner.key, text)).unwrap();
        let kind = EntryKind::Charge {
            endpoint: text.to_owned(),
            items: 1,
            price: Price::PerAnswer(1),
            key: owner.key,
            request_id: text.to_owned(),
            revision: DirectoryRevision(7),
        };
        world.ports.add_entry(owner.account, kind, -1, world.clock.now());
        let query = url::form_urlencoded::Serializer::new(String::new())
            .append_pair("id", text)
            .append_pair("from", text)
            .append_pair("done", text)
            .finish();
        let key = owner.key.to_string();
        for page in pages().filter(|page| !page.path.ends_with(".csv")) {
            let path = page.path.replace("{id}", &key);
            // Two pages are left out. `/account/keys` creates a key and answers with a redirect,
            // which shows no text. `/account/sign-out` would end the session.
            let is_left_out = page.method == Method::Post
                && ["/account/sign-out", "/account/keys"].contains(&path.as_str());
            if path.contains('{') || is_left_out {
                continue;
            }
            let seen = match page.method {
                Method::Get => owner.browser.get(&world, &format!("{path}?{query}")),
                Method::Post => {
                    let fields = [
                        ("email", text),
                        ("label", text),
                        ("requests", text),
                        ("overlap", text),
                        ("endpoint", "/v1/cuf"),
                        ("key", &key),
                        ("field.companyName", text),
                    ];
                    owner.browser.post(&world, &path, &fields)
                }
            };
            let is_harmless = escaped(text) == text;
            assert!(is_harmless || !seen.body.contains(text), "{text} at {path}: {}", seen.body);
        }
        let shown = owner.browser.get(&world, "/account/keys");
        assert!(shown.body.contains(&escaped(text)), "{text}: {}", shown.body);
    }
}

#[test]
fn cells_that_a_spreadsheet_would_run_are_text() {
    for text in texts() {
        let world = World::new();
        let owner = world.owner("Quill Ltd", "ada@quill.example");
        pollster::block_on(world.ports.set_label(owner.key, text)).unwrap();
        let kind = EntryKind::Charge {
            endpoint: "/v1/cuf".to_owned(),
            items: 1,
            price: Price::PerAnswer(1),
            key: owner.key,
            request_id: text.to_owned(),
            revision: DirectoryRevision(7),
        };
        world.ports.add_entry(owner.account, kind, -1, world.clock.now());
        let seen = owner.browser.get(&world, "/account/calls.csv");
        let mut reader = csv::Reader::from_reader(seen.body.as_bytes());
        let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
        for cell in rows.iter().flatten() {
            assert!(!cell.starts_with(['=', '+', '-', '@', '\t', '\r']), "{cell}");
        }
        assert!(
            rows.iter()
                .flatten()
                .any(|cell| cell.trim_start_matches('\'') == text.trim_start_matches('\''))
        );
    }
}
