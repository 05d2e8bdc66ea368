//! Tests of the import of facts about domains.

use enrich_core::DomainRecord;

use super::{Added, Harness, Merged, Unchanged, at_domain, load_one, rank_of};
use crate::loading::{load, source_name};
use crate::records::{domain_record, hashed, trusted};

pub async fn facts_of_a_domain_need_no_company(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let ranked = || {
        let page_rank = Some("5".to_owned());
        hashed(DomainRecord { page_rank, ..domain_record("quill.example") })
    };
    assert_eq!(load_one(&ports, "ranks", ranked()).await, Added);
    assert_eq!(load_one(&ports, "ranks", ranked()).await, Unchanged);
    assert_eq!(at_domain(&ports, "quill.example").await, None);
    let ip = Some("192.0.2.1".parse().unwrap());
    let located = DomainRecord { ip, ..domain_record("quill.example") };
    assert_eq!(load_one(&ports, "ranks", hashed(located)).await, Merged);
    assert_eq!(rank_of(&ports, "quill.example").await.as_deref(), Some("5"));
}

pub async fn a_fact_of_a_domain_stays_unless_the_newcomer_is_trusted_more(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let ranked = |rank: &str, percent| {
        let page_rank = Some(rank.to_owned());
        hashed(DomainRecord {
            page_rank,
            origin: trusted(percent),
            ..domain_record("quill.example")
        })
    };
    load(&ports, "a", vec![ranked("5", 70)]).await;
    assert_eq!(load_one(&ports, "a", ranked("6", 70)).await, Unchanged);
    assert_eq!(load_one(&ports, "b", ranked("7", 70)).await, Unchanged);
    assert_eq!(rank_of(&ports, "quill.example").await.as_deref(), Some("5"));
    assert_eq!(load_one(&ports, "b", ranked("8", 80)).await, Merged);
    assert_eq!(rank_of(&ports, "quill.example").await.as_deref(), Some("8"));
    ports.importer.remove_source(&source_name("b")).await.unwrap();
    assert_eq!(rank_of(&ports, "quill.example").await.as_deref(), Some("5"));
}
