//! The fields of native records (records in Enrich's own import format), and the kinds of record
//! that have them.

use std::fmt;
use std::sync::LazyLock;

/// The kind of a record in Enrich's own import format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordType {
    /// A company.
    Company,
    /// A person.
    Person,
    /// Facts about a domain, such as its IP address.
    Domain,
}

impl RecordType {
    /// Every kind with the name that the native format uses.
    pub const ALL: [(&str, RecordType); 3] =
        [("company", Self::Company), ("person", Self::Person), ("domain", Self::Domain)];

    /// Returns the kind with this name, in upper or lower case.
    pub fn from_name(name: &str) -> Option<Self> {
        let mut all = Self::ALL.into_iter();
        all.find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, kind)| kind)
    }

    /// Returns the kind of a record without a `type`: a person if the record has `first_name`, else
    /// a company if it has `name`, else facts of a domain if it has `domain` or `domains`.
    pub fn from_fields(is_there: impl Fn(Field) -> bool) -> Option<Self> {
        let signs = [
            (Field::FirstName, Self::Person),
            (Field::Name, Self::Company),
            (Field::Domain, Self::Domain),
            (Field::Domains, Self::Domain),
        ];
        signs.into_iter().find(|&(field, _)| is_there(field)).map(|(_, kind)| kind)
    }

    /// Returns the name that the native format uses for this kind.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Company => "company",
            Self::Person => "person",
            Self::Domain => "domain",
        }
    }
}

/// A field of Enrich's own import format, or a field that exists only in mappings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the table says their names")]
pub enum Field {
    Type,
    Id,
    Confidence,
    Name,
    Aliases,
    Country,
    Domains,
    LinkedIn,
    Facebook,
    Instagram,
    Twitter,
    Youtube,
    Emails,
    Phones,
    Ip,
    PageRank,
    FirstName,
    LastName,
    Title,
    Company,
    CompanyDomain,
    Domain,
    Ids,
    Parent,
    /// URLs of any kind, which a mapping sorts into domains and pages. This field exists only in
    /// mappings.
    Urls,
    /// A person's full name, which a mapping splits into first and last name. This field exists
    /// only in mappings.
    FullName,
}

/// The field that a column or a JSON key of an import file names, and whether this name is the
/// singular of the field's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Named {
    /// The field.
    pub field: Field,
    /// Whether the file uses the singular form of a field name that is a plural, such as `email`
    /// for `emails`.
    pub is_singular: bool,
}

/// Every field with its name and the kinds of records that have the field, in the order of
/// [`Field`].
const TABLE: [(Field, &str, &[RecordType]); 26] = {
    use RecordType::{Company, Domain, Person};
    [
        (Field::Type, "type", &[Company, Person, Domain]),
        (Field::Id, "id", &[Company, Person, Domain]),
        (Field::Confidence, "confidence", &[Company, Person, Domain]),
        (Field::Name, "name", &[Company]),
        (Field::Aliases, "aliases", &[Company]),
        (Field::Country, "country", &[Company, Person]),
        (Field::Domains, "domains", &[Company, Domain]),
        (Field::LinkedIn, "linkedin", &[Company, Person]),
        (Field::Facebook, "facebook", &[Company]),
        (Field::Instagram, "instagram", &[Company]),
        (Field::Twitter, "twitter", &[Company]),
        (Field::Youtube, "youtube", &[Company]),
        (Field::Emails, "emails", &[Company, Person]),
        (Field::Phones, "phones", &[Company, Person]),
        (Field::Ip, "ip", &[Company, Domain]),
        (Field::PageRank, "page_rank", &[Company, Domain]),
        (Field::FirstName, "first_name", &[Person]),
        (Field::LastName, "last_name", &[Person]),
        (Field::Title, "title", &[Person]),
        (Field::Company, "company", &[Person]),
        (Field::CompanyDomain, "company_domain", &[Person]),
        (Field::Domain, "domain", &[Company, Domain]),
        (Field::Ids, "ids", &[Company]),
        (Field::Parent, "parent", &[Company]),
        (Field::Urls, "urls", &[Company, Person]),
        (Field::FullName, "full_name", &[Person]),
    ]
};

/// The fields of Enrich's own import format. Each has its name in the form that [`plain_name`]
/// returns, such as `firstname`.
static NATIVE_COLUMNS: LazyLock<Vec<(Field, String)>> =
    LazyLock::new(|| Field::native().map(|field| (field, plain_name(field.name()))).collect());

impl Field {
    /// The number of fields.
    pub const COUNT: usize = TABLE.len();

    /// Returns all fields of Enrich's own import format.
    pub fn native() -> impl Iterator<Item = Self> {
        TABLE.into_iter().map(|(field, ..)| field).filter(|field| field.is_native())
    }

    /// Returns the field of Enrich's own import format with this name. The singular and the plural
    /// of a name are both accepted, such as `email` and `emails`.
    pub fn from_name(name: &str) -> Option<Named> {
        Self::find(name).filter(|named| named.field.is_native())
    }

    /// Returns the field of Enrich's own import format whose values are in a column with this name.
    /// Case, blanks and punctuation in the column's name don't matter. The singular and the plural
    /// are both accepted.
    pub fn from_column(column: &str) -> Option<Named> {
        let plain = plain_name(column);
        let same = NATIVE_COLUMNS.iter().find(|(_, known)| *known == plain);
        if let Some(&(field, _)) = same {
            return Some(Named { field, is_singular: false });
        }
        let (field, known) =
            NATIVE_COLUMNS.iter().find(|(_, known)| differ_in_number(known, &plain))?;
        Some(Named { field: *field, is_singular: plain.len() < known.len() })
    }

    /// Returns the field with this name, in the singular or the plural; `None` if no mapping can
    /// fill it. `domain` means the field `domains`.
    pub(crate) fn of_mapping(name: &str) -> Option<Self> {
        let field = Self::find(name)?.field;
        match field {
            Self::Domain => Some(Self::Domains),
            field => field.is_mapped().then_some(field),
        }
    }

    /// Returns the field's name.
    pub fn name(self) -> &'static str {
        TABLE.get(self as usize).map_or("", |(_, name, _)| name)
    }

    /// Whether records of this kind have the field.
    pub fn belongs_to(self, kind: RecordType) -> bool {
        TABLE.get(self as usize).is_some_and(|(_, _, kinds)| kinds.contains(&kind))
    }

    /// Returns the names of the fields that a mapping can fill in records of this kind.
    pub(crate) fn names(kind: RecordType) -> Vec<&'static str> {
        let fields = TABLE
            .into_iter()
            .filter(|(field, _, kinds)| field.is_mapped() && kinds.contains(&kind));
        fields.map(|(_, name, _)| name).collect()
    }

    /// Whether the field's values are names of companies or people, or job titles.
    pub fn is_name(self) -> bool {
        matches!(
            self,
            Self::Name
                | Self::Aliases
                | Self::FirstName
                | Self::LastName
                | Self::FullName
                | Self::Company
                | Self::Title
        )
    }

    fn is_native(self) -> bool {
        !matches!(self, Self::Urls | Self::FullName)
    }

    /// Whether a mapping fills the field by a rule in `[fields]`. The fields `type`, `id`,
    /// `confidence` and `ids` come from other keys or tables of the mapping file. Mapping files
    /// have no field `domain`, because they use `domains` instead.
    fn is_mapped(self) -> bool {
        !matches!(self, Self::Type | Self::Id | Self::Confidence | Self::Ids | Self::Domain)
    }

    fn find(name: &str) -> Option<Named> {
        let exact = TABLE.into_iter().find(|(_, known, _)| *known == name);
        let other = || TABLE.into_iter().find(|(_, known, _)| differ_in_number(known, name));
        let (field, known, _) = exact.or_else(other)?;
        Some(Named { field, is_singular: name.len() < known.len() })
    }
}

/// Returns the letters and digits of a column's name in lower case, so that `E-Mail`, `e mail` and
/// `email` are equal. The sign that only makes an Arabic word longer is left out.
pub fn plain_name(name: &str) -> String {
    /// ARABIC TATWEEL, which Unicode counts as a letter.
    const LONGER: char = '\u{640}';
    let letters = name.chars().filter(|sign| sign.is_alphanumeric() && *sign != LONGER);
    letters.flat_map(char::to_lowercase).collect()
}

/// Whether one name is the English plural of the other.
fn differ_in_number(one: &str, other: &str) -> bool {
    let (short, long) = if one.len() < other.len() { (one, other) } else { (other, one) };
    match long.strip_prefix(short) {
        Some(ending) => matches!(ending, "s" | "es"),
        None => short.strip_suffix('y').is_some_and(|stem| long.strip_prefix(stem) == Some("ies")),
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_stands_in_the_order_of_the_fields() {
        for (place, (field, name, _)) in TABLE.into_iter().enumerate() {
            assert_eq!(field as usize, place, "{name}");
            let named = field.is_native().then_some(Named { field, is_singular: false });
            assert_eq!(Field::from_name(name), named);
            assert_eq!(Field::from_column(name), named);
        }
    }

    #[test]
    fn singular_and_plural_of_a_name_mean_the_same_field() {
        let field = |name| Field::from_name(name).map(|named| (named.field, named.is_singular));
        assert_eq!(field("email"), Some((Field::Emails, true)));
        assert_eq!(field("alias"), Some((Field::Aliases, true)));
        assert_eq!(field("countries"), Some((Field::Country, false)));
        assert_eq!(field("companies"), Some((Field::Company, false)));
        assert_eq!(field("id"), Some((Field::Id, false)));
        assert_eq!(field("ids"), Some((Field::Ids, false)), "not the plural of `id`");
        assert_eq!(field("colour"), None);
    }

    #[test]
    fn case_blanks_and_punctuation_of_a_column_do_not_matter() {
        for (column, field) in [
            ("E-Mail", Field::Emails),
            ("First Name", Field::FirstName),
            ("PAGE RANK", Field::PageRank),
            ("Company_Domain", Field::CompanyDomain),
            ("Linked-In", Field::LinkedIn),
        ] {
            assert_eq!(
                Field::from_column(column).map(|named| named.field),
                Some(field),
                "{column}"
            );
        }
        assert_eq!(Field::from_column("IDs").map(|named| named.field), Some(Field::Ids));
        assert_eq!(Field::from_column("-"), None);
    }

    #[test]
    fn a_first_name_means_a_person_even_beside_a_name() {
        let has =
            |fields: &'static [Field]| RecordType::from_fields(|field| fields.contains(&field));
        assert_eq!(has(&[Field::Name, Field::FirstName]), Some(RecordType::Person));
        assert_eq!(has(&[Field::Domain, Field::Name]), Some(RecordType::Company));
        assert_eq!(has(&[Field::Domain]), Some(RecordType::Domain));
        assert_eq!(has(&[Field::Emails]), None);
    }

    #[test]
    fn a_mapping_fills_urls_and_full_names_but_no_type() {
        assert_eq!(Field::of_mapping("url"), Some(Field::Urls));
        assert_eq!(Field::of_mapping("full_name"), Some(Field::FullName));
        assert_eq!(Field::of_mapping("domain"), Some(Field::Domains));
        assert_eq!(Field::of_mapping("countries"), Some(Field::Country));
        for name in ["type", "id", "ids", "confidence", "colour"] {
            assert_eq!(Field::of_mapping(name), None, "{name}");
        }
    }

    #[test]
    fn case_blanks_and_punctuation_are_left_out() {
        assert_eq!(plain_name(" Company-Name (EN) "), "companynameen");
        assert_eq!(plain_name("Straße_1"), "straße1");
        assert_eq!(plain_name("--"), "");
    }
}
