//! Creates a mapping from the names of a file's columns, for usual names in several languages.

use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::column_values::{
    are_whole_names, has_companies, meaning_of_values, names_more, values_of,
};
use crate::columns::separators;
use crate::mapping::{Mapping, is_address};
use crate::meaning::{meaning, target};
use crate::native::{Field, RecordType};
use crate::no_value::is_no_name;
use crate::record_rule::RecordRule;
use crate::rule::Rule;

/// A mapping that was created from the names of columns, such as `Company` and `Website`.
#[derive(Clone, Debug)]
pub struct Synonyms {
    /// The mapping.
    pub mapping: Mapping,
    /// The kind of the records that the mapping gives.
    pub record_type: RecordType,
    /// The columns that are read, each with its field.
    pub used: Vec<(String, &'static str)>,
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
            .filter_map(|column| Some((column.as_str(), meaning_among(columns, column)?)));
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
        known
    }

    /// For records of people: returns the unused column that probably has the name of the
    /// employer, because most records have a different text in it. Returns `None` if a used column
    /// has the employer, if several unused columns are possible, or if the records are not people.
    pub fn likely_company(&self, records: &[Map<String, Value>]) -> Option<&str> {
        let has_employer = self.used.iter().any(|(_, field)| *field == Field::Company.name());
        if self.record_type != RecordType::Person || has_employer {
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

/// Returns two columns: the column with area codes, such as `Vorwahl`, and the column with the
/// phone numbers to which the area codes belong. This is the next column with phone numbers after
/// the area codes. If no such column follows, it is the file's first column with phone numbers.
fn area_codes<'c>(known: &[(&'c str, &'static str)]) -> Option<(&'c str, &'c str)> {
    let at = known.iter().position(|(_, meaning)| *meaning == "area_code")?;
    let mut next = known[at..].iter().chain(known);
    let (phones, _) = next.find(|(_, meaning)| *meaning == "phones")?;
    Some((known[at].0, phones))
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
    /// decide the kind of the records. The records are people if there are columns for one of
    /// these:
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
    /// `records` are the first records of the file. Their values show the meaning of columns
    /// without a usual name.
    pub fn from_synonyms(columns: &[String], records: &[Map<String, Value>]) -> Option<Synonyms> {
        let known = Synonyms::known(columns, records);
        let has = |meaning: &str| known.iter().any(|(_, known)| *known == meaning);
        let is_person = has("first_name")
            || has("last_name")
            || has("full_name")
            || (has("contact") && (!has("company") || (has("title") && !has("domains"))))
            || (has("name") && has("title"));
        let record_type = match () {
            () if is_person && are_mostly_companies(&known, records) => RecordType::Company,
            () if is_person => RecordType::Person,
            () if has("name") || has("company") => RecordType::Company,
            () if has("domains") && (has("page_rank") || has("ip")) => RecordType::Domain,
            () => return None,
        };
        Self::from_synonyms_of(columns, records, record_type)
    }

    /// Like [`from_synonyms`](Self::from_synonyms), but for records of the given kind. Returns
    /// `None` if no column fills a field of this kind of record. External ids do not count.
    pub fn from_synonyms_of(
        columns: &[String],
        records: &[Map<String, Value>],
        record_type: RecordType,
    ) -> Option<Synonyms> {
        let known = Synonyms::known(columns, records);
        let has = |meaning: &str| known.iter().any(|(_, known)| *known == meaning);
        let is_named = has("full_name") || has("first_name");
        // If one column has first names (`Prénom`, `Vorname`), a column `Nom` or `Name` has last
        // names.
        let is_last_name = |meaning| {
            meaning == "name" && has("first_name") && !has("last_name") && !has("full_name")
        };
        let mut fields: Vec<(Field, Vec<&str>)> = Vec::new();
        let mut ids: Vec<(String, Rule)> = Vec::new();
        let mut used = Vec::new();
        for &(column, meaning) in &known {
            let name = match record_type {
                RecordType::Person if is_last_name(meaning) => Some("last_name"),
                _ => target(record_type, meaning, is_named),
            };
            let Some(name) = name else { continue };
            if let Some(scheme) = name.strip_prefix("ids.") {
                ids.push((scheme.to_owned(), Rule::column(column)));
                used.push((column.to_owned(), scheme));
                continue;
            }
            let field = Field::of_mapping(name).filter(|field| field.belongs_to(record_type));
            let Some(field) = field else { continue };
            match fields.iter_mut().find(|(known, _)| *known == field) {
                Some((_, columns)) => columns.push(column),
                None => fields.push((field, vec![column])),
            }
            used.push((column.to_owned(), field.name()));
        }
        if fields.is_empty() {
            return None;
        }
        let area_codes = area_codes(&known);
        if let Some((column, _)) = area_codes
            && fields.iter().any(|(field, _)| *field == Field::Phones)
        {
            used.push((column.to_owned(), "area code"));
        }
        let particles = known.iter().find(|(_, meaning)| *meaning == "particle");
        let particles = particles.filter(|_| fields.iter().any(|(it, _)| *it == Field::LastName));
        if let Some((column, _)) = particles {
            used.push(((*column).to_owned(), "particle"));
        }
        let rule = |(field, columns): (Field, Vec<&str>)| {
            let rule = Rule::columns(columns, separators(field));
            let rule = match (field, area_codes, particles) {
                (Field::LastName, _, Some((column, _))) => rule.with_particles(column),
                (Field::Phones, Some((codes, phones)), _) => rule.with_area_codes(phones, codes),
                _ => rule,
            };
            (field, rule)
        };
        let fields = fields.into_iter().map(rule);
        let rule = RecordRule::of(record_type, fields.collect(), ids);
        let is_unused = |column: &&String| {
            !used.iter().any(|(known, _)| known == *column) && !has_members(columns, column)
        };
        let unused = columns.iter().filter(is_unused).cloned().collect();
        let is_by_values = |(column, _): &&(String, &'static str)| {
            known.iter().any(|(name, _)| name == column) && meaning_among(columns, column).is_none()
        };
        let by_values = used.iter().filter(is_by_values).map(|(name, _)| name.clone()).collect();
        Some(Synonyms { mapping: Mapping::of(vec![rule]), record_type, used, unused, by_values })
    }
}
