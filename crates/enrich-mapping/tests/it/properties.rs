//! Tests with random input: neither mapping files nor records, vCards, URLs or ids make this crate
//! panic.

use enrich_mapping::{
    InputKind, Mapping, Outcome, Sample, Settings, built_ins, detect, route_url, vcards,
};
use enrich_text::ExternalId;
use proptest::prelude::*;
use serde_json::{Map, Value};

/// Keys and texts with a meaning in some mapping, so that random input reaches more code.
const KNOWN: &[&str] = &[
    "type",
    "item",
    "id",
    "labels",
    "claims",
    "P856",
    "P17",
    "P31",
    "mainsnak",
    "datavalue",
    "value",
    "qualifiers",
    "P582",
    "rank",
    "snaktype",
    "names",
    "links",
    "Entity",
    "LEI",
    "$",
    "@key",
    "LegalName",
    "Country",
    "properties",
    "name",
    "website",
    "domain",
    "First Name",
    "Last Name",
    "#host_rev",
    "#pr_pos",
    "contact",
    "denomination",
    "enterprise",
    "tags",
    "https://quill.example/x",
    "linkedin.com/in/ada",
    "+49 30 1",
    "Q183",
    "-1",
    "ACTIVE",
    "::: ",
];

/// Returns a strategy for texts: mostly known texts, sometimes any text.
fn word() -> impl Strategy<Value = String> {
    prop_oneof![3 => proptest::sample::select(KNOWN).prop_map(str::to_owned), 1 => "\\PC{0,12}"]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        word().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((word(), inner), 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn record() -> impl Strategy<Value = Map<String, Value>> {
    let first = built_ins().iter().flat_map(|mapping| mapping.inputs());
    let mut keys: Vec<String> = first.flat_map(|input| input.keys.clone()).collect();
    keys.push("@key".to_owned());
    let key = prop_oneof![2 => proptest::sample::select(keys), 1 => word()];
    prop::collection::vec((key, value()), 0..12).prop_map(|members| members.into_iter().collect())
}

proptest! {
    #[test]
    fn no_record_makes_a_built_in_mapping_panic(record in record()) {
        for mapping in built_ins() {
            let mapped = mapping.map(&record, &Settings::default());
            if let Outcome::Records(records) = mapped.outcome {
                prop_assert!(records.iter().all(|record| record.contains_key("type")));
            }
            mapping.unused(std::slice::from_ref(&record));
        }
    }

    #[test]
    fn no_beginning_of_a_file_makes_detection_panic(name in "\\PC{0,20}", record in record()) {
        let keys: Vec<String> = record.keys().cloned().collect();
        let records = [record];
        for kind in [None, Some(InputKind::Csv), Some(InputKind::Json)] {
            let sample =
                Sample { file_name: &name, kind, keys: &keys, records: &records, ..Sample::default() };
            detect(&sample);
        }
        Mapping::from_synonyms(&keys, &[], None);
    }

    #[test]
    fn no_text_makes_a_mapping_file_panic(text in "\\PC{0,200}") {
        let _ = Mapping::from_toml(&text);
    }

    #[test]
    fn no_changed_mapping_file_panics(
        at in any::<prop::sample::Index>(),
        from in any::<prop::sample::Index>(),
        length in 0..40_usize,
        word in word(),
    ) {
        let texts: Vec<&str> = built_ins().iter().map(Mapping::source_text).collect();
        let letters: Vec<char> = at.get(&texts).chars().collect();
        let start = from.index(letters.len());
        let end = (start + length).min(letters.len());
        let text: String =
            letters[..start].iter().copied().chain(word.chars()).chain(letters[end..].iter().copied()).collect();
        match Mapping::from_toml(&text) {
            Ok(mapping) => {
                mapping.map(&Map::new(), &Settings::default());
            }
            Err(error) => prop_assert!(!error.to_string().contains('\n'), "{error}"),
        }
    }

    #[test]
    fn no_bytes_make_cards_panic(bytes in prop::collection::vec(any::<u8>(), 0..300), text in "(BEGIN:VCARD\n|END:VCARD\n|N;QUOTED-PRINTABLE:=|=C3=|\n |TEL:|\\PC){0,30}") {
        let _ = vcards(&bytes).count();
        let _ = vcards(text.as_bytes()).count();
    }

    #[test]
    fn no_text_makes_a_url_or_an_id_panic(text in "(https?://|www\\.|[/?#.:@a-z]|linkedin\\.com|\\PC){0,20}") {
        route_url(&text);
        for scheme in ["lei", "wikidata", "ror", "cik", "gb", "siren", "no", "be", "ee", "de"] {
            if let Ok(id) = ExternalId::parse(scheme, &text) {
                prop_assert_eq!(ExternalId::parse(scheme, id.id()), Ok(id));
            }
        }
    }
}
