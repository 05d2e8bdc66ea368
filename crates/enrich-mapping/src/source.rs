//! The source of a mapping: its name, licence and other facts.

use enrich_text::Country;

use crate::error::MappingError;
use crate::node::Table;

/// The source of a mapping. A text is empty if the mapping file does not contain it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceInfo {
    /// The name of the source and of its format, such as `gleif`.
    pub name: String,
    /// The title, such as `Global LEI index (GLEIF golden copy)`.
    pub title: String,
    /// The name of the licence, such as `CC0-1.0`.
    pub licence: String,
    /// The text that users of the data must publish according to the licence.
    pub attribution: String,
    /// The address of the website that publishes the data.
    pub homepage: String,
    /// What the records contain, for the list of `enrich import --formats`.
    pub gives: String,
    /// The size of the whole source in words, such as `3 million companies`. The command
    /// `enrich import --formats` shows it.
    pub size: String,
    /// The confidence that every record of the source gets, from 1 to 100. If this is `None`, the
    /// native records have no confidence, which means 100.
    pub confidence: Option<u8>,
    /// The country of records that name no country. A company gets this country as its seat, and
    /// national phone numbers are read as numbers of this country.
    pub country: Option<Country>,
    /// Texts that stand for no value in this source, such as `[ND]`. Texts that stand for no value
    /// in every source, such as `n/a`, are not listed here ([`is_no_value`](crate::is_no_value)).
    pub null: Vec<String>,
}

const KEYS: [&str; 10] = [
    "name",
    "title",
    "licence",
    "attribution",
    "homepage",
    "gives",
    "size",
    "confidence",
    "country",
    "null",
];

impl SourceInfo {
    /// Whether the source is a list that the operator has, and not one with a mapping file: its
    /// columns were found by their names, or named on the command line. Such a source has no name.
    pub fn is_own_list(&self) -> bool {
        self.name.is_empty()
    }

    pub(crate) fn read(table: &Table<'_, '_>) -> Result<Self, MappingError> {
        table.only(&KEYS)?;
        let text = |name| table.text(name).map(Option::unwrap_or_default);
        let name = text("name")?;
        if name.trim().is_empty() {
            return Err(table.wrong("needs a `name`"));
        }
        let mut source = Self {
            name,
            title: text("title")?,
            licence: text("licence")?,
            attribution: text("attribution")?,
            homepage: text("homepage")?,
            gives: text("gives")?,
            size: text("size")?,
            null: table.texts("null")?,
            ..Self::default()
        };
        if let Some(node) = table.get("confidence") {
            let number = u8::try_from(node.number()?).ok();
            let confidence = number.filter(|number| (1..=100).contains(number));
            source.confidence =
                Some(confidence.ok_or_else(|| node.wrong("is a number from 1 to 100"))?);
        }
        if let Some(node) = table.get("country") {
            let country = Country::parse(&node.text()?).ok();
            source.country =
                Some(country.ok_or_else(|| node.wrong("is a country's code or English name"))?);
        }
        Ok(source)
    }
}
