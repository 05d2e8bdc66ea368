//! Creates a mapping from the names of a file's columns, for usual names in several languages.

use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::address::is_address;
use crate::column_groups::Groups;
use crate::column_name::meaning;
use crate::column_rules::{ColumnRules, rules_of_kind};
use crate::column_values::{
    are_whole_names, has_companies, meaning_of_values, names_more, values_of,
};
use crate::company_and_person::rules_of_both;
use crate::known_columns::{KnownColumns, PERSON_NAMES};
use crate::mapping::Mapping;
use crate::meaning::{Meaning, usual_meaning};
use crate::native::{Field, RecordType};
use crate::no_value::is_no_name;

/// A mapping that was created from the names of columns, such as `Company` and `Website`.
#[derive(Clone, Debug)]
pub struct Synonyms {
    /// The mapping.
    pub mapping: Mapping,
    /// For each kind of record that the mapping gives: the columns that are read, each with its
    /// field.
    pub used: Vec<(RecordType, Vec<(String, String)>)>,
    /// The columns that are not read.
    pub unused: Vec<String>,
    /// The columns of `used` whose names are not usual column names. Their values have shown their
    /// meaning.
    pub by_values: Vec<String>,
}

impl Synonyms {
    /// Returns the columns whose meaning is known, each with its meaning. If no column such as
    /// `Company` has the company's name, a column such as `Customer` or `Legal name` has it.
    ///
    /// If a column does not have a usual name, its values in `records` may show its meaning
    /// ([`meaning_of_values`]). Such a column is returned only in two cases: no other column has
    /// this meaning, or the column's name contains a word such as `mail`.
    pub(crate) fn known<'c>(
        columns: &'c [String],
        records: &[Map<String, Value>],
    ) -> KnownColumns<'c> {
        let groups = Groups::of(columns);
        let known = columns.iter().filter_map(|column| {
            Some((column.as_str(), meaning_of_name(columns, column, &groups)?))
        });
        let mut known: KnownColumns<'_> = known.collect();
        let has_last_name = known.has(Meaning::LastName);
        // A column `Name` may have the last names. It does not if it has the names of companies.
        let may_be_last_name = known
            .iter()
            .any(|(column, meaning)| meaning == Meaning::Name && !has_companies(column, records));
        let is_alone = !has_last_name && !may_be_last_name;
        known.change(|column, meaning| match meaning {
            Meaning::FirstName if is_alone && are_whole_names(column, records) => Meaning::Contact,
            meaning => meaning,
        });
        add_by_values(&mut known, columns, records);
        name_companies(&mut known);
        groups.assign(&mut known);
        // A location may end with a country, which is read only if there is no other column for it.
        if known.has(Meaning::Country) {
            known.leave_out(Meaning::Location);
        }
        known
    }

    /// For records of people: returns the unused column that probably has the name of the
    /// employer, because most records have a different text in it. Returns `None` if a used column
    /// has the employer, if several unused columns are possible, or if the records are not people.
    pub fn likely_company(&self, records: &[Map<String, Value>]) -> Option<&str> {
        let [(RecordType::Person, used)] = self.used.as_slice() else { return None };
        if used.iter().any(|(_, field)| field == Field::Company.name()) {
            return None;
        }
        let is_name = |column: &&String| are_mostly_distinct_names(column, records);
        let mut names = self.unused.iter().filter(is_name);
        names.next().filter(|_| names.next().is_none()).map(String::as_str)
    }
}

/// Finds the column with the name of the company, if no column has a name such as `Company`:
///
/// - If there is a contact person, a column `Name` has it. A column `Nombre` ("name" or "first
///   name") also has it, if no column has last names.
/// - Otherwise a column such as `Customer` or `Legal name` has it, if there is no column `Name`.
fn name_companies(known: &mut KnownColumns<'_>) {
    let has_last_name = known.has(Meaning::LastName);
    let has_contact = known.has(Meaning::Contact);
    if has_contact && !known.has_any(&[Meaning::Company, Meaning::FullName]) {
        let mut is_found = false;
        known.change(|_, meaning| {
            let may_be_company =
                meaning == Meaning::Name || (meaning == Meaning::FirstName && !has_last_name);
            let is_first = may_be_company && !is_found;
            is_found |= is_first;
            if is_first { Meaning::Company } else { meaning }
        });
    }
    for substitute in [Meaning::Party, Meaning::Legal] {
        if !known.has_any(&[Meaning::Company, Meaning::Name]) {
            known.change(|_, meaning| match meaning == substitute {
                true => Meaning::Company,
                false => meaning,
            });
        }
    }
}

/// Finds the meaning of columns from their values, and adds these columns to `known`. Only columns
/// without a usual name are examined.
fn add_by_values<'c>(
    known: &mut KnownColumns<'c>,
    columns: &'c [String],
    records: &[Map<String, Value>],
) {
    let of_name = known.clone();
    let is_unknown = |column: &&String| !of_name.contains(column) && !has_members(columns, column);
    for column in columns.iter().filter(is_unknown) {
        let Some(meaning) = meaning_of_values(column, records) else { continue };
        let same: &[Meaning] = match meaning {
            Meaning::Company => &[Meaning::Company, Meaning::Name, Meaning::Party, Meaning::Legal],
            Meaning::Emails => &[Meaning::Emails, Meaning::CompanyEmails, Meaning::PersonEmails],
            Meaning::LinkedIn | Meaning::CompanyLinkedIn => {
                &[Meaning::LinkedIn, Meaning::CompanyLinkedIn, Meaning::PersonLinkedIn]
            }
            Meaning::Phones => &[Meaning::Phones, Meaning::CompanyPhones, Meaning::PersonPhones],
            _ => &[meaning],
        };
        if !known.has_any(same) || names_more(column, meaning) {
            known.push(column, meaning);
        }
    }
    known.sort(columns);
}

/// Returns the meaning that a column's name has alone, or without the prefix of its group. Objects
/// of JSON and XML, and their members, are in no group ([`meaning_among`]).
fn meaning_of_name(columns: &[String], column: &str, groups: &Groups) -> Option<Meaning> {
    let is_object_or_member =
        || has_members(columns, column) || outer_and_inner(columns, column).is_some();
    let in_group = || groups.meaning_in_group(column).filter(|_| !is_object_or_member());
    meaning_among(columns, column).or_else(in_group)
}

/// Returns the meaning of a column. In JSON and XML, a column such as `company.name` is a member of
/// the object `company`:
///
/// - An object itself has no meaning.
/// - The name in the object of a company is the company's name. Names in other objects have no
///   meaning, because they may be names of anything.
/// - Other members have the meaning of their own name: `contact.email` means the same as `email`.
fn meaning_among(columns: &[String], column: &str) -> Option<Meaning> {
    if has_members(columns, column) {
        return None;
    }
    let Some((outer, inner)) = outer_and_inner(columns, column) else { return meaning(column) };
    let of_whole = usual_meaning(column);
    let of_inner = meaning(inner).filter(|_| of_whole.is_none());
    match (meaning(outer), of_inner) {
        (Some(Meaning::Company | Meaning::Party), Some(Meaning::Name | Meaning::Company)) => {
            Some(Meaning::Company)
        }
        (_, Some(Meaning::Name | Meaning::Title)) => None,
        (_, Some(of_person)) if PERSON_NAMES.contains(&of_person) => None,
        (_, Some(of_inner)) => Some(of_inner),
        (_, None) => of_whole,
    }
}

/// Splits the name of a column into the name of an object of JSON or XML, and the name of its
/// member. Returns `None` if the column is not a member of an object.
fn outer_and_inner<'c>(columns: &[String], column: &'c str) -> Option<(&'c str, &'c str)> {
    column.rsplit_once('.').filter(|(outer, _)| columns.iter().any(|it| it == outer))
}

/// Whether a column is an object of JSON or XML, so that its members are columns too.
fn has_members(columns: &[String], column: &str) -> bool {
    columns.iter().any(|other| other.strip_prefix(column).is_some_and(|rest| rest.starts_with('.')))
}

/// Whether there are more companies than people among the records. A record with the name of a
/// person counts as a person, even if it also has a company.
fn are_mostly_companies(known: &KnownColumns<'_>, records: &[Map<String, Value>]) -> bool {
    let is_of_person = |(column, meaning): &(&str, Meaning)| {
        PERSON_NAMES.contains(meaning)
            || (*meaning == Meaning::Name && !has_companies(column, records))
    };
    let has = |record: &Map<String, Value>, column| {
        !values_of(column, std::slice::from_ref(record)).is_empty()
    };
    let names: Vec<_> = known.iter().filter(is_of_person).collect();
    let is_person =
        |record: &&Map<String, Value>| names.iter().any(|(column, _)| has(record, column));
    let is_company = |record: &&Map<String, Value>| {
        let mut companies = known.iter().filter(|(_, meaning)| *meaning == Meaning::Company);
        companies.any(|(column, _)| has(record, column)) && !is_person(record)
    };
    records.iter().filter(is_company).count() > records.iter().filter(is_person).count()
}

/// Whether a column may contain the names of companies. There must be at least two records. The
/// column must have many different texts that may be names: three or more for every four records.
fn are_mostly_distinct_names(column: &str, records: &[Map<String, Value>]) -> bool {
    let letters = |text: &str| text.chars().filter(|letter| letter.is_alphabetic()).count();
    let texts = records.iter().filter_map(|record| record.get(column)?.as_str());
    let names = texts.map(str::trim).filter(|text| {
        !is_no_name(text) && !is_address(text) && 2 * letters(text) > text.chars().count()
    });
    let distinct: HashSet<&str> = names.collect();
    records.len() > 1 && 4 * distinct.len() >= 3 * records.len()
}

impl Mapping {
    /// Creates a mapping from usual column names, such as `Company` and `Website`. The columns
    /// decide the kind of the records, unless `kind` does. The records are people if there are
    /// columns for one of these:
    ///
    /// - A first name, a last name or a full name.
    /// - A name and a job title.
    /// - A contact, and no company.
    /// - A contact and a job title, and no domain.
    ///
    /// But a list of customers may have columns for companies and columns for private people. So if
    /// more records have a company and no person than have a person, all records are companies.
    ///
    /// If the records are not people, they are companies if there is a column for a name or a
    /// company. Otherwise they are facts of domains, if there are columns for a domain, and for a
    /// page rank or an IP address. Otherwise returns `None`.
    ///
    /// Each record is a company and a person who works there, if there are columns for a person, a
    /// company, and more about the company than its name.
    ///
    /// `records` are the first records of the file. Their values show the meaning of columns
    /// without a usual name.
    pub fn from_synonyms(
        columns: &[String],
        records: &[Map<String, Value>],
        kind: Option<RecordType>,
    ) -> Option<Synonyms> {
        let known = Synonyms::known(columns, records);
        let rules = match kind {
            Some(kind) => vec![rules_of_kind(kind, &known)],
            None if have_both(&known) => rules_of_both(&known).into(),
            None => vec![rules_of_kind(kind_of(&known, records)?, &known)],
        };
        if rules.iter().any(ColumnRules::is_empty) {
            return None;
        }
        let is_used = |column: &str| {
            rules.iter().any(|rules| rules.used.iter().any(|(known, _)| known == column))
        };
        let is_unused = |column: &&String| !is_used(column) && !has_members(columns, column);
        let groups = Groups::of(columns);
        let is_by_values = |(column, _): &(&str, Meaning)| {
            is_used(column) && meaning_of_name(columns, column, &groups).is_none()
        };
        let unused = columns.iter().filter(is_unused).cloned().collect();
        let by_values = known.iter().filter(is_by_values);
        let by_values = by_values.map(|(column, _)| column.to_owned()).collect();
        let used = rules.iter().map(|rules| (rules.kind, rules.used.clone())).collect();
        let rules = rules.into_iter().map(ColumnRules::into_rule).collect();
        Some(Synonyms { mapping: Mapping::of(rules), used, unused, by_values })
    }
}

/// Whether each record has a company and a person who works there. There must be more about the
/// company than its name, or the person must be the company's contact.
fn have_both(known: &KnownColumns<'_>) -> bool {
    const OF_COMPANIES: [Meaning; 8] = [
        Meaning::Domains,
        Meaning::CompanyLinkedIn,
        Meaning::CompanyEmails,
        Meaning::CompanyPhones,
        Meaning::Facebook,
        Meaning::Instagram,
        Meaning::Twitter,
        Meaning::Youtube,
    ];
    let has_id = known.iter().any(|(_, meaning)| matches!(meaning, Meaning::Id(_)));
    let has_key = has_id || known.has_any(&OF_COMPANIES);
    let is_contact = known.has(Meaning::Contact) && !known.has(Meaning::Title);
    let has_person = is_person(known) || known.has(Meaning::Contact);
    known.has(Meaning::Company) && has_person && (has_key || is_contact)
}

/// Whether the columns are about people. [`Mapping::from_synonyms`] has the rules.
fn is_person(known: &KnownColumns<'_>) -> bool {
    let has = |meaning| known.has(meaning);
    let is_contact = !has(Meaning::Company) || (has(Meaning::Title) && !has(Meaning::Domains));
    known.has_any(&[Meaning::FirstName, Meaning::LastName, Meaning::FullName])
        || (has(Meaning::Contact) && is_contact)
        || (has(Meaning::Name) && has(Meaning::Title))
}

/// Returns the kind of the records, which [`Mapping::from_synonyms`] describes. Returns `None` if
/// the columns show no kind.
fn kind_of(known: &KnownColumns<'_>, records: &[Map<String, Value>]) -> Option<RecordType> {
    let is_ranked = known.has_any(&[Meaning::PageRank, Meaning::Ip]);
    match () {
        () if is_person(known) && are_mostly_companies(known, records) => Some(RecordType::Company),
        () if is_person(known) => Some(RecordType::Person),
        () if known.has_any(&[Meaning::Name, Meaning::Company]) => Some(RecordType::Company),
        () if known.has(Meaning::Domains) && is_ranked => Some(RecordType::Domain),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(names: &[&str]) -> Vec<(String, Meaning)> {
        let columns: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        let known = Synonyms::known(&columns, &[]);
        known.iter().map(|(column, meaning)| (column.to_owned(), meaning)).collect()
    }

    #[test]
    fn names_in_an_object_are_not_read_even_if_most_columns_are_in_objects() {
        let found = known(&["owner", "owner.name", "owner.first_name", "owner.email", "owner.tel"]);
        let meanings: Vec<Meaning> = found.into_iter().map(|(_, meaning)| meaning).collect();
        assert_eq!(meanings, [Meaning::Emails, Meaning::Phones]);
        let found = known(&["KNT.NAME", "KNT.EMAIL", "KNT.TEL"]);
        assert_eq!(found.len(), 3, "no column is an object, so the prefix is that of a group");
    }

    #[test]
    fn a_thousand_columns_are_understood_at_once() {
        let columns: Vec<String> = (0..1_000).map(|number| format!("AB_{number}x")).collect();
        assert!(Mapping::from_synonyms(&columns, &[], None).is_none());
    }
}
