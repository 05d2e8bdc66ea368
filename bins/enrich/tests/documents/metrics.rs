//! Checks that the reference page of metrics has exactly the server's metrics.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::document_page::{pages, root};

#[test]
fn the_reference_has_every_metric_and_no_other() {
    let sources = ["crates/enrich-server/src/metrics.rs", "crates/enrich-cli/src/store_metrics.rs"];
    let mut known: BTreeSet<String> = BTreeSet::new();
    for source in sources {
        let source = fs::read_to_string(root().join(source)).unwrap();
        let texts = source.split('"').skip(1).step_by(2).map(str::to_owned);
        known.extend(texts.filter(|text| text.starts_with("enrich_")));
    }
    let reference = Path::new("docs/reference/metrics.md");
    let page = pages().into_iter().find(|page| page.path == reference).unwrap();
    let rows = page.prose().into_iter().filter_map(|line| line.strip_prefix("| `enrich_"));
    let documented = rows.map(|row| format!("enrich_{}", row.split('`').next().unwrap()));
    assert_eq!(documented.collect::<BTreeSet<_>>(), known);
}
