//! Creates a mapping from the names of a file's columns, for usual names in several languages.

use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::column_groups::{assign_groups, meaning_in_group};
use crate::column_rules::{ColumnRules, rules_of_both, rules_of_kind};
use crate::column_values::{
    are_whole_names, has_companies, meaning_of_values, names_more, values_of,
};
use crate::mapping::{Mapping, is_address};
use crate::meaning::meaning;
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
    ) -> Vec<(&'c str, &'static str)> {
        let known = columns
            .iter()
            .filter_map(|column| Some((column.as_str(), meaning_of_name(columns, column)?)));
        let mut known: Vec<_> = known.collect();
        let has_last_name = known.iter().any(|(_, meaning)| *meaning == "last_name");
        // A column `Name` may have the last names. It does not if it has the names of companies.
        let may_be_last_name = known
            .iter()
            .any(|(column, meaning)| *meaning == "name" && !has_companies(column, records));
        let is_alone = !has_last_name && !may_be_last_name;
        for (column, meaning) in &mut known {
            if *meaning == "first_name" && is_alone && are_whole_names(column, records) {
                *meaning = "contact";
            }
        }
        add_by_values(&mut known, columns, records);
        // If there is a contact person and no company, a column `Name` has the company's name. A
        // column `Nombre` ("name" or "first name") also has it, if no column has last names.
        let is_there = |known: &[(&str, &str)], wanted: &[&str]| {
            known.iter().any(|(_, meaning)| wanted.contains(meaning))
        };
        if is_there(&known, &["contact"]) && !is_there(&known, &["company", "full_name"]) {
            let is_company = |(_, meaning): &&mut (&str, &str)| {
                *meaning == "name" || (*meaning == "first_name" && !has_last_name)
            };
            let name = known.iter_mut().find(is_company);
            name.into_iter().for_each(|(_, meaning)| *meaning = "company");
        }
        for substitute in ["party", "legal"] {
            if !known.iter().any(|(_, meaning)| matches!(*meaning, "company" | "name")) {
                let same = known.iter_mut().filter(|(_, meaning)| *meaning == substitute);
                same.for_each(|(_, meaning)| *meaning = "company");
            }
        }
        assign_groups(&mut known, columns);
        // A location may end with a country, which is read only if there is no other column for it.
        if is_there(&known, &["country"]) {
            known.retain(|(_, meaning)| *meaning != "location");
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

/// Finds the meaning of columns from their values, and adds these columns to `known`. Only columns
/// without a usual name are examined.
fn add_by_values<'c>(
    known: &mut Vec<(&'c str, &'static str)>,
    columns: &'c [String],
    records: &[Map<String, Value>],
) {
    let of_name = known.clone();
    let is_unknown = |column: &&String| {
        !of_name.iter().any(|(name, _)| name == column) && !has_members(columns, column)
    };
    let unknown = columns.iter().filter(is_unknown);
    for column in unknown {
        let Some(meaning) = meaning_of_values(column, records) else { continue };
        let same: &[&str] = match meaning {
            "company" => &["company", "name", "party", "legal"],
            "emails" => &["emails", "company_emails"],
            "linkedin" | "company_linkedin" => &["linkedin", "company_linkedin"],
            "phones" => &["phones", "company_phones", "person_phones"],
            _ => &[meaning],
        };
        let is_there = known.iter().any(|(_, meaning)| same.contains(meaning));
        if !is_there || names_more(column, meaning) {
            known.push((column, meaning));
        }
    }
    // The columns are read in the order in which the file has them.
    known.sort_by_key(|(name, _)| columns.iter().position(|column| column == name));
}

/// Returns the meaning that a column's name has alone, or without the prefix of its group.
fn meaning_of_name(columns: &[String], column: &str) -> Option<&'static str> {
    let in_group = || meaning_in_group(columns, column).filter(|_| !has_members(columns, column));
    meaning_among(columns, column).or_else(in_group)
}

/// Returns the meaning of a column. In JSON and XML, a column such as `company.name` is a member of
/// the object `company`:
///
/// - An object itself has no meaning.
/// - The name in the object of a company is the company's name. Names in other objects have no
///   meaning, because they may be names of anything.
/// - Other members have the meaning of their own name: `contact.email` means the same as `email`.
fn meaning_among(columns: &[String], column: &str) -> Option<&'static str> {
    if has_members(columns, column) {
        return None;
    }
    let outer = column.rsplit_once('.').filter(|(outer, _)| columns.iter().any(|it| it == outer));
    let Some((outer, inner)) = outer else { return meaning(column) };
    let of_inner = meaning(inner).filter(|_| meaning(column).is_none());
    match (meaning(outer), of_inner) {
        (Some("company" | "party"), Some("name" | "company")) => Some("company"),
        (_, Some("name" | "first_name" | "last_name" | "full_name" | "contact" | "title")) => None,
        (_, Some(of_inner)) => Some(of_inner),
        (_, None) => meaning(column),
    }
}

/// Whether a column is an object of JSON or XML, so that its members are columns too.
fn has_members(columns: &[String], column: &str) -> bool {
    columns.iter().any(|other| other.strip_prefix(column).is_some_and(|rest| rest.starts_with('.')))
}

/// Whether there are more companies than people among the records. A record with the name of a
/// person counts as a person, even if it also has a company.
fn are_mostly_companies(known: &[(&str, &str)], records: &[Map<String, Value>]) -> bool {
    const PERSON: [&str; 5] = ["first_name", "last_name", "full_name", "contact", "name"];
    let is_of_company =
        |(column, meaning): &&(&str, &str)| *meaning == "name" && has_companies(column, records);
    let known: Vec<_> = known.iter().filter(|column| !is_of_company(column)).collect();
    let has = |record: &Map<String, Value>, wanted: &[&str]| {
        let mut columns = known.iter().filter(|(_, meaning)| wanted.contains(meaning));
        columns.any(|(column, _)| !values_of(column, std::slice::from_ref(record)).is_empty())
    };
    let people = records.iter().filter(|record| has(record, &PERSON)).count();
    let companies =
        records.iter().filter(|record| has(record, &["company"]) && !has(record, &PERSON));
    companies.count() > people
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
    /// company, and more about the company than its name ([`rules_of_both`]).
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
        let is_by_values = |(column, _): &&(&str, &'static str)| {
            is_used(column) && meaning_of_name(columns, column).is_none()
        };
        let unused = columns.iter().filter(is_unused).cloned().collect();
        let by_values = known.iter().filter(is_by_values);
        let by_values = by_values.map(|(column, _)| (*column).to_owned()).collect();
        let used = rules.iter().map(|rules| (rules.kind, rules.used.clone())).collect();
        let rules = rules.into_iter().map(ColumnRules::into_rule).collect();
        Some(Synonyms { mapping: Mapping::of(rules), used, unused, by_values })
    }
}

/// Whether each record has a company and a person who works there. There must be more about the
/// company than its name, or the person must be the company's contact.
fn have_both(known: &[(&str, &str)]) -> bool {
    const OF_COMPANIES: [&str; 8] = [
        "domains",
        "company_linkedin",
        "company_emails",
        "company_phones",
        "facebook",
        "instagram",
        "twitter",
        "youtube",
    ];
    let has = |meaning: &str| known.iter().any(|(_, known)| *known == meaning);
    let has_key = known
        .iter()
        .any(|(_, meaning)| OF_COMPANIES.contains(meaning) || meaning.starts_with("ids."));
    let has_person = is_person(known) || has("contact");
    has("company") && has_person && (has_key || (has("contact") && !has("title")))
}

/// Whether the columns are about people. [`Mapping::from_synonyms`] has the rules.
fn is_person(known: &[(&str, &str)]) -> bool {
    let has = |meaning: &str| known.iter().any(|(_, known)| *known == meaning);
    has("first_name")
        || has("last_name")
        || has("full_name")
        || (has("contact") && (!has("company") || (has("title") && !has("domains"))))
        || (has("name") && has("title"))
}

/// Returns the kind of the records, which [`Mapping::from_synonyms`] describes. Returns `None` if
/// the columns show no kind.
fn kind_of(known: &[(&str, &str)], records: &[Map<String, Value>]) -> Option<RecordType> {
    let has = |meaning: &str| known.iter().any(|(_, known)| *known == meaning);
    match () {
        () if is_person(known) && are_mostly_companies(known, records) => Some(RecordType::Company),
        () if is_person(known) => Some(RecordType::Person),
        () if has("name") || has("company") => Some(RecordType::Company),
        () if has("domains") && (has("page_rank") || has("ip")) => Some(RecordType::Domain),
        () => None,
    }
}
