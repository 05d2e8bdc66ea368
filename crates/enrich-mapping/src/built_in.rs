//! The built-in mappings: mapping files that are compiled into the program.

use std::sync::LazyLock;

use crate::mapping::Mapping;

/// The mapping files. The files of the most useful sources come first, so that they are at the top
/// of the list of formats that an operator sees.
const FILES: [&str; 29] = [
    include_str!("../formats/wikidata.toml"),
    include_str!("../formats/pdl.toml"),
    include_str!("../formats/bigpicture.toml"),
    include_str!("../formats/nsi.toml"),
    include_str!("../formats/ror.toml"),
    include_str!("../formats/brreg.toml"),
    include_str!("../formats/kbo.toml"),
    include_str!("../formats/ee.toml"),
    include_str!("../formats/overture.toml"),
    include_str!("../formats/linkedin-connections.toml"),
    include_str!("../formats/google-contacts.toml"),
    include_str!("../formats/vcard.toml"),
    include_str!("../formats/hubspot.toml"),
    include_str!("../formats/salesforce.toml"),
    include_str!("../formats/apollo.toml"),
    include_str!("../formats/pipedrive.toml"),
    include_str!("../formats/commoncrawl.toml"),
    include_str!("../formats/majestic.toml"),
    include_str!("../formats/tranco.toml"),
    include_str!("../formats/domcop.toml"),
    include_str!("../formats/gleif.toml"),
    include_str!("../formats/companies-house.toml"),
    include_str!("../formats/sec.toml"),
    include_str!("../formats/sirene.toml"),
    include_str!("../formats/offeneregister.toml"),
    include_str!("../formats/sp500.toml"),
    include_str!("../formats/datenanfragen.toml"),
    include_str!("../formats/twofactorauth.toml"),
    include_str!("../formats/universities.toml"),
];

static MAPPINGS: LazyLock<Vec<Mapping>> =
    LazyLock::new(|| FILES.into_iter().filter_map(|text| Mapping::from_toml(text).ok()).collect());

/// Returns the built-in mappings. The mappings of the most useful sources come first.
pub fn built_ins() -> &'static [Mapping] {
    &MAPPINGS
}

impl Mapping {
    /// Returns the built-in mapping with this name. Case does not matter.
    pub fn built_in(name: &str) -> Option<&'static Mapping> {
        MAPPINGS.iter().find(|mapping| mapping.source().name.eq_ignore_ascii_case(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_mapping_is_read_and_says_its_licence() {
        for text in FILES {
            let mapping = Mapping::from_toml(text).unwrap();
            let source = mapping.source();
            let name = &source.name;
            for text in [&source.title, &source.licence, &source.gives, &source.size] {
                assert!(!text.is_empty(), "{name}");
            }
            assert!(source.confidence.is_some(), "{name}");
            assert_eq!(Mapping::built_in(name).unwrap().source_text(), text_of(name));
        }
        assert_eq!(built_ins().len(), FILES.len());
    }

    fn text_of(name: &str) -> &'static str {
        let is_named = |text: &&str| Mapping::from_toml(text).unwrap().source().name == name;
        FILES.into_iter().find(is_named).unwrap()
    }
}
