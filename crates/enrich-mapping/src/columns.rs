//! Mappings that are given on the command line as pairs of a field and a column.

use enrich_text::ExternalId;

use crate::error::MappingError;
use crate::mapping::Mapping;
use crate::native::{Field, RecordType};
use crate::node::list;
use crate::record_rule::RecordRule;
use crate::rule::Rule;

impl Mapping {
    /// Creates a mapping from pairs of a field and a column, such as `("domains", "Website")`. An
    /// id that a register gives a company has the field `ids.SCHEME`, where the scheme names the
    /// register. For a well-known register, the scheme alone is enough, such as `lei`. If a field
    /// is paired with several columns, all of them are read.
    ///
    /// If `kind` is `None`, the fields decide which kind of record each row gives:
    ///
    /// - With `first_name`, `last_name` or `full_name`: a person.
    /// - Otherwise, with `name`: a company.
    /// - Otherwise, with `domain` or `domains`: facts of a domain.
    /// - Otherwise: a company.
    ///
    /// # Errors
    ///
    /// Returns an error if a pair names a field that this kind of record does not have. The error
    /// lists the fields that are allowed.
    pub fn from_columns(
        pairs: &[(String, String)],
        kind: Option<RecordType>,
    ) -> Result<Self, MappingError> {
        let has = |name: &str| pairs.iter().any(|(field, _)| field.trim() == name);
        let kind = kind.unwrap_or_else(|| match () {
            () if has("first_name") || has("last_name") || has("full_name") => RecordType::Person,
            () if has("name") => RecordType::Company,
            () if has("domain") || has("domains") => RecordType::Domain,
            () => RecordType::Company,
        });
        let mut fields: Vec<(Field, Vec<&str>)> = Vec::new();
        let (mut ids, mut id) = (Vec::new(), None);
        for (name, column) in pairs {
            let name = name.trim();
            let scheme = name.strip_prefix("ids.").or_else(|| is_scheme(name).then_some(name));
            if name == "id" {
                id = Some(Rule::column(column));
                continue;
            }
            if let Some(scheme) = scheme.filter(|_| kind == RecordType::Company) {
                ids.push((scheme.to_owned(), Rule::column(column)));
                continue;
            }
            let field = Field::of_mapping(name).filter(|field| field.belongs_to(kind));
            let Some(field) = field else { return Err(unknown(name, kind)) };
            match fields.iter_mut().find(|(known, _)| *known == field) {
                Some((_, columns)) => columns.push(column),
                None => fields.push((field, vec![column])),
            }
        }
        let rule = |(field, columns): (Field, Vec<&str>)| {
            (field, Rule::columns(columns, separators(field)))
        };
        let fields = fields.into_iter().map(rule);
        let rule = RecordRule::of(kind, fields.collect(), ids).with_id(id);
        Ok(Self::of(vec![rule]))
    }
}

/// The texts that separate addresses: a blank, a line break, the usual signs, and the comma and the
/// semicolon of Arabic and of Chinese and Japanese.
static SEPARATORS: [&str; 10] =
    [" ", "\n", "|", ";", ",", "\u{60c}", "\u{61b}", "\u{3001}", "\u{ff0c}", "\u{ff1b}"];

/// Returns the texts that separate several values of `field` in one cell. A text that a single
/// value can contain is no separator: a phone number, for example, can contain blanks.
pub(crate) fn separators(field: Field) -> &'static [&'static str] {
    match field {
        Field::Domains | Field::Emails => &SEPARATORS,
        Field::Phones => &SEPARATORS[1..],
        Field::Aliases
        | Field::LinkedIn
        | Field::Facebook
        | Field::Instagram
        | Field::Twitter
        | Field::Youtube => &["|"],
        _ => &[],
    }
}

fn unknown(name: &str, kind: RecordType) -> MappingError {
    let mut names = vec!["id"];
    names.extend(Field::names(kind));
    if kind == RecordType::Company {
        names.extend(ExternalId::known_schemes());
    }
    let (kind, names) = (kind.as_str(), list(&names));
    MappingError::Columns(format!("`{name}` is no field of a {kind}; there are {names}"))
}

fn is_scheme(name: &str) -> bool {
    ExternalId::known_schemes().any(|scheme| scheme == name)
}
