//! Finds what two companies have in common, so that they look like one company. Also finds the
//! reason why they are stored as two companies.

use std::collections::BTreeSet;
use std::fmt;

use super::claims::{Host, RecordClaims};
use super::decisions::Decisions;
use super::links::{
    MAX_BEARERS, SharedKeys, can_have_country_sites, common, has_compatible_seats,
    has_label_as_name, link,
};
use crate::identity::differing_ids;

/// What two companies have in common, so that they look like one company. The strongest kinds
/// come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Resemblance {
    /// The two companies have a common id in a register or data set.
    Id,
    /// The two companies have a common host (domain) and equal names.
    HostAndName,
    /// The two companies have a common host (domain) and similar names.
    Host,
    /// The two companies have a common registrable domain and equal names.
    DomainAndName,
    /// The two companies have domains with the same label, such as `quill.de` and `quill.fr`, and
    /// equal names.
    LabelAndName,
    /// The two companies have a common page, such as `linkedin.com/company/quill`, and similar
    /// names.
    Page,
    /// The two companies have a common phone number and similar names.
    Phone,
    /// The two companies have equal names. One of them has a domain or a social-media page, the
    /// other has neither.
    NameAlone,
}

impl Resemblance {
    /// All kinds of resemblance, the strongest first.
    pub const ALL: [Self; 8] = [
        Self::Id,
        Self::HostAndName,
        Self::Host,
        Self::DomainAndName,
        Self::LabelAndName,
        Self::Page,
        Self::Phone,
        Self::NameAlone,
    ];

    /// Returns the strongest resemblance of two companies, and the value that they have in
    /// common. The value is an id, a host, a page, a phone number, or a name without spaces and
    /// legal form. If there are several common values, returns the first in alphabetical order.
    /// Returns `None` if the companies do not look alike.
    pub fn of<'a>(one: &'a RecordClaims, other: &'a RecordClaims) -> Option<(Self, &'a str)> {
        if let Some(id) = first_common(one.ids(), other.ids()) {
            return Some((Self::Id, id));
        }
        let name = common_name(one, other);
        let is_near = || name.is_some() || one.is_nearly_named(other);
        if let Some(host) = first_common(one.hosts(), other.hosts())
            && is_near()
        {
            return Some((if name.is_some() { Self::HostAndName } else { Self::Host }, host));
        }
        if let Some(name) = name {
            let share =
                |key: fn(&Host) -> &String| common(&one.hosts, &other.hosts, key).next().is_some();
            if share(|host| &host.registrable) {
                return Some((Self::DomainAndName, name));
            }
            if share(|host| &host.label) {
                return Some((Self::LabelAndName, name));
            }
        }
        if let Some(page) = first_common(one.pages(), other.pages())
            && is_near()
        {
            return Some((Self::Page, page));
        }
        if let Some(phone) = first_common(one.phones(), other.phones())
            && is_near()
        {
            return Some((Self::Phone, phone));
        }
        name.filter(|_| one.is_name_alone() != other.is_name_alone())
            .map(|name| (Self::NameAlone, name))
    }
}

/// Returns the first value, in alphabetical order, that is in both lists; `None` if there is none.
fn first_common<'a>(
    these: impl Iterator<Item = &'a str>,
    those: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    let those: BTreeSet<&str> = those.collect();
    if those.is_empty() {
        return None;
    }
    these.filter(|value| those.contains(value)).min()
}

/// Returns the first name, in alphabetical order, that two companies have in common; `None` if
/// there is none. The name must be an own name of at least one of the companies, and may be an
/// alias of the other company. The result is without spaces and legal form.
fn common_name<'a>(one: &'a RecordClaims, other: &'a RecordClaims) -> Option<&'a str> {
    let own = |of: &'a RecordClaims, beside: &'a RecordClaims| {
        first_common(of.names(), beside.names().chain(beside.aliases()))
    };
    own(one, other).into_iter().chain(own(other, one)).min()
}

/// One of two companies that look alike.
#[derive(Clone, Copy, Debug)]
pub struct Alike<'a> {
    /// The values of all records of the company together ([`RecordClaims::of_company`]).
    pub company: &'a RecordClaims,
    /// The values of each record of the company.
    pub records: &'a [RecordClaims],
}

/// Why two companies that look alike are not one company.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WhyApart {
    /// A decision of the operator splits the two companies. The value is the number of the
    /// decision.
    Decision(u64),
    /// The companies have different ids in one register, such as two LEIs. The values are these
    /// ids.
    DifferentIds(String, String),
    /// The companies have this id in common. But it is probably wrong in one of them: the records
    /// with the id have neither a domain nor a word of their names in common.
    WrongId(String),
    /// The companies have this host, page or phone number in common. But more than three
    /// organisations share it, so it does not show that the two are one company.
    OfMany(String),
    /// The companies have domains with the same label, such as `pens.ch` and `pens.fr`, but this
    /// label is not their name.
    OtherLabel,
    /// The companies have domains with the same label, and it is their name: `quill.de` and
    /// `quill.red`. But one of the top-level domains, here `.red`, neither belongs to a country nor
    /// is a usual one such as `.com`. Under it, the same label often belongs to another company.
    OtherSuffix,
    /// The companies have equal names, but they are in different countries.
    OtherCountry,
    /// One of the companies is known only by its name: it has neither a domain nor a social-media
    /// page. Several companies that have one of these have the same name, and it is unknown which
    /// of them is meant. The value is the number of these companies.
    Namesakes(usize),
    /// The companies have this value, such as a host, in common. But more than [`MAX_BEARERS`]
    /// companies share it, so it does not show that the two are one company.
    TooMany(String),
    /// The companies have a name and another value, such as a host, in common, but the name and the
    /// value come from different records. A link needs two records that have both the name and the
    /// other value in common.
    OtherRecords,
    /// No rule keeps the companies apart, but they were not united. There are two possible reasons:
    ///
    /// - An import was interrupted before it compared their records.
    /// - Their records can be linked, directly or through other records, with more records than
    ///   entity resolution can compare together. It leaves all these records as they are.
    NotDivided,
}

impl WhyApart {
    /// Finds the reason why two companies that look alike are not one company. `key` is the value
    /// that they have in common ([`Resemblance::of`]). `bearers` is the number of companies with
    /// this value. With [`Resemblance::NameAlone`], `bearers` only counts companies with a domain
    /// or a social-media page.
    pub fn of(
        resemblance: Resemblance,
        (one, other): (Alike<'_>, Alike<'_>),
        (key, bearers): (&str, usize),
        decisions: &Decisions,
    ) -> Self {
        if let Some(decision) = decisions.keeping_apart(one.records, other.records) {
            return Self::Decision(decision.number);
        }
        if let Some((these, those)) = differing_ids(one.company.ids(), other.company.ids()) {
            return Self::DifferentIds(these.to_owned(), those.to_owned());
        }
        if resemblance == Resemblance::NameAlone {
            return match bearers {
                0 | 1 if !has_compatible_seats(one.company, other.company) => Self::OtherCountry,
                0 | 1 => Self::NotDivided,
                _ => Self::Namesakes(bearers),
            };
        }
        if bearers > MAX_BEARERS {
            return Self::TooMany(key.to_owned());
        }
        let nothing = SharedKeys::default();
        let is_linked = one
            .records
            .iter()
            .any(|a| other.records.iter().any(|b| link(a, b, &nothing).is_some()));
        match resemblance {
            Resemblance::Id if !is_linked => Self::WrongId(key.to_owned()),
            Resemblance::LabelAndName if !is_linked => {
                let mut labels = common(&one.company.hosts, &other.company.hosts, |it| &it.label);
                let is_name = labels.any(|host| {
                    [one, other].iter().all(|it| has_label_as_name(it.company, &host.label))
                });
                match is_name {
                    false => Self::OtherLabel,
                    true if can_have_country_sites(one.company, other.company) => Self::OtherSuffix,
                    true => Self::OtherCountry,
                }
            }
            _ if !is_linked => Self::OtherRecords,
            Resemblance::Host | Resemblance::Page | Resemblance::Phone => {
                Self::OfMany(key.to_owned())
            }
            _ => Self::NotDivided,
        }
    }
}

impl fmt::Display for WhyApart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Decision(number) => write!(f, "Decision {number} keeps them apart."),
            Self::DifferentIds(one, other) => {
                write!(f, "They have different ids in one scheme: {one} and {other}.")
            }
            Self::WrongId(id) => write!(
                f,
                "The records with the id {id} have neither a domain nor a word of their names in \
                 common."
            ),
            Self::OfMany(value) => write!(f, "More than three organisations share {value}."),
            Self::OtherLabel => f.write_str("The part that their domains share is not their name."),
            Self::OtherSuffix => f.write_str(
                "One of their domains is neither under the top-level domain of a country nor under \
                 .com, .org or the like.",
            ),
            Self::OtherCountry => f.write_str("Their countries differ."),
            Self::Namesakes(number) => {
                write!(f, "{number} companies with a domain have this name.")
            }
            Self::TooMany(value) => {
                write!(f, "More than {MAX_BEARERS} companies share {value}.")
            }
            Self::OtherRecords => f.write_str(
                "No record of one company has the name and the shared value of the other.",
            ),
            Self::NotDivided => f.write_str(
                "Nothing keeps them apart, but too many companies resemble them, or an import was \
                 interrupted.",
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::merge::Attribute;
    use crate::resolution::test_records::{self, DOMAIN, ID, SEAT};
    use crate::resolution::{DecidedRecord, Decision, DecisionKind, RecordKey};

    fn claims(name: &str, values: &[(Attribute, &str)]) -> RecordClaims {
        let key = RecordKey::of_id(name.to_owned(), &format!("{values:?}"));
        test_records::claims(key, name, values)
    }

    type Company<'a> = (&'a str, &'a [(Attribute, &'a str)]);

    /// Returns the resemblance of two companies with one record each, the value that they have in
    /// common, and why they are not one company.
    fn compared(one: Company<'_>, other: Company<'_>, bearers: usize) -> Option<String> {
        let (one, other) = (claims(one.0, one.1), claims(other.0, other.1));
        let (resemblance, key) = Resemblance::of(&one, &other)?;
        assert_eq!(Resemblance::of(&other, &one), Some((resemblance, key)));
        let alike = |company| Alike { company, records: std::slice::from_ref(company) };
        let both = (alike(&one), alike(&other));
        let why = WhyApart::of(resemblance, both, (key, bearers), &Decisions::default());
        Some(format!("{resemblance:?} {key}: {why}"))
    }

    #[test]
    fn companies_that_look_alike_have_a_kind_and_a_reason() {
        let quill: Company<'_> = ("Quill", &[(DOMAIN, "quill.example"), (ID, "x:1")]);
        for (one, other, bearers, expected) in [
            (
                quill,
                ("Ink", &[(DOMAIN, "ink.example"), (ID, "x:1")][..]),
                2,
                "Id x:1: The records with the id x:1 have neither a domain nor a word of their \
                 names in common.",
            ),
            (
                quill,
                ("Quill", &[(DOMAIN, "quill.example"), (ID, "x:2")]),
                2,
                "HostAndName quill.example: They have different ids in one scheme: x:1 and x:2.",
            ),
            (
                quill,
                ("Quill Group", &[(DOMAIN, "quill.example")]),
                5,
                "Host quill.example: More than three organisations share quill.example.",
            ),
            (
                ("Quill", &[(DOMAIN, "pens.ch")]),
                ("Quill", &[(DOMAIN, "pens.fr")]),
                2,
                "LabelAndName quill: The part that their domains share is not their name.",
            ),
            (
                ("Quill", &[(DOMAIN, "quill.ch"), (SEAT, "CH")]),
                ("Quill", &[(DOMAIN, "quill.fr"), (SEAT, "FR")]),
                2,
                "LabelAndName quill: Their countries differ.",
            ),
            (
                ("Quill", &[(DOMAIN, "quill.ch")]),
                ("Quill", &[(DOMAIN, "quill.red")]),
                2,
                "LabelAndName quill: One of their domains is neither under the top-level domain of \
                 a country nor under .com, .org or the like.",
            ),
            (
                quill,
                ("Quill Ltd", &[]),
                2,
                "NameAlone quill: 2 companies with a domain have this name.",
            ),
            (
                ("Quill", &[(DOMAIN, "quill.ch"), (Attribute::Country, "CH")]),
                ("Quill", &[(Attribute::Country, "GB")]),
                1,
                "NameAlone quill: Their countries differ.",
            ),
        ] {
            assert_eq!(compared(one, other, bearers).as_deref(), Some(expected));
        }
    }

    #[test]
    fn a_unit_and_a_namesake_with_a_domain_do_not_look_alike() {
        let quill: Company<'_> = ("Quill", &[(DOMAIN, "quill.example")]);
        assert_eq!(compared(quill, ("Quill Films", &[(DOMAIN, "quill.example")]), 2), None);
        assert_eq!(compared(quill, ("Quill", &[(DOMAIN, "pens.example")]), 2), None);
    }

    #[test]
    fn the_decision_is_the_first_reason() {
        let one = claims("Quill", &[(DOMAIN, "quill.example"), (ID, "x:1")]);
        let other = claims("Quill", &[(DOMAIN, "quill.example"), (ID, "x:2")]);
        let sides = [&one, &other].map(|it| vec![DecidedRecord::of(it)]);
        let decision = Decision { number: 3, kind: DecisionKind::Split, sides };
        let alike = |company| Alike { company, records: std::slice::from_ref(company) };
        let both = (alike(&one), alike(&other));
        let decisions = Decisions::new(vec![decision]);
        let why = WhyApart::of(Resemblance::HostAndName, both, ("quill.example", 2), &decisions);
        assert_eq!(why, WhyApart::Decision(3));
    }
}
