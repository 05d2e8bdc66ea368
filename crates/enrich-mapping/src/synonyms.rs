//! Creates a mapping for a file from the names of its columns. Usual names in several languages are
//! known, such as `Company` and `Firma`.

use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::address::is_address;
use crate::column_groups::Groups;
use crate::column_name::meaning;
use crate::column_rules::{ColumnRules, rules_of_kind};
use crate::column_values::{
    are_whole_names, has_companies, meaning_of_values, names_more, unless_contradicted,
};
use crate::column_words::{has_party_word, is_about_others};
use crate::company_and_person::rules_of_both;
use crate::known_columns::{KnownColumns, PERSON_NAMES};
use crate::mapping::Mapping;
use crate::meaning::{Meaning, usual_meaning};
use crate::native::{Field, RecordType, plain_name};
use crate::no_value::is_no_name;

/// A mapping that was created from the names of columns, such as `Company` and `Website`.
#[derive(Clone, Debug)]
pub struct Synonyms {
    /// The mapping.
    pub mapping: Mapping,
    /// The columns that are not read.
    pub unused: Vec<String>,
    /// The columns that are read and whose names are not usual column names. Their values have
    /// shown their meaning.
    pub by_values: Vec<String>,
}

impl Synonyms {
    /// Returns the columns whose meaning is known, each with its meaning. If no column has a name
    /// such as `Company`, another column, such as `Customer` or `Legal name`, gets the meaning
    /// "company name" ([`name_companies`]).
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
            let meaning = meaning_of_name(columns, column, &groups)?;
            Some((column.as_str(), unless_contradicted(meaning, column, records)?))
        });
        let mut known: KnownColumns<'_> = known.collect();
        leave_out_parties(&mut known);
        add_pairs(&mut known, columns);
        let has_last_name = known.has(Meaning::LastName);
        // A column `Name` may have the last names of people, unless its values are names of
        // companies.
        let may_be_last_name = known
            .iter()
            .any(|(column, meaning)| meaning == Meaning::Name && !has_companies(column, records));
        let is_alone = !has_last_name && !may_be_last_name;
        // `Nombre` and `Nome` mean "name" or "first name". If most values have several words, they
        // are whole names: names of companies if there is a column for a website and none for a
        // company, and otherwise names of people.
        let has_domains = known.has(Meaning::Domains) && !known.has(Meaning::Company);
        known.change(|column, meaning| match meaning {
            Meaning::FirstName if is_alone && are_whole_names(column, records) => match has_domains
            {
                true => Meaning::Name,
                false => Meaning::Contact,
            },
            meaning => meaning,
        });
        add_by_values(&mut known, columns, records, &groups);
        name_companies(&mut known, columns, records);
        groups.assign(&mut known);
        // A location is read only for the country at its end: `Paris, France`. So a column with
        // locations is not needed if another column has the country.
        if known.has(Meaning::Country) {
            known.leave_out(Meaning::Location);
        }
        known
    }

    /// For records of people: returns the unused column that probably has the name of the
    /// employer, because most records have a different text in it. Returns `None` if a used column
    /// has the employer, if several unused columns are possible, or if the records are not people.
    pub fn likely_company(&self, records: &[Map<String, Value>]) -> Option<&str> {
        let used = self.mapping.used_columns();
        let [(RecordType::Person, used)] = used.as_slice() else { return None };
        if used.iter().any(|(_, field)| field == Field::Company.name()) {
            return None;
        }
        let is_name = |column: &&String| are_mostly_distinct_names(column, records);
        let mut names = self.unused.iter().filter(is_name);
        names.next().filter(|_| names.next().is_none()).map(String::as_str)
    }
}

/// Leaves out columns such as `Supplier email` if there is a column `Email`: they are about another
/// company or person.
fn leave_out_parties(known: &mut KnownColumns<'_>) {
    let all = known.clone();
    let is_other = |column: &str, meaning: Meaning| {
        let is_plain = |(other, of_other): (&str, Meaning)| {
            of_other == meaning && other != column && usual_meaning(other).is_some()
        };
        usual_meaning(column).is_none() && has_party_word(column) && all.iter().any(is_plain)
    };
    *known = all.iter().filter(|(column, meaning)| !is_other(column, *meaning)).collect();
}

/// Adds pairs of columns whose names mean a person's names only together: `First` and `Last`.
fn add_pairs<'c>(known: &mut KnownColumns<'c>, columns: &'c [String]) {
    for (first, last) in [("first", "last"), ("ad", "soyad"), ("given", "family")] {
        let find = |name| columns.iter().find(|column| plain_name(column) == name);
        if let (Some(first), Some(last)) = (find(first), find(last)) {
            for (column, meaning) in [(first, Meaning::FirstName), (last, Meaning::LastName)] {
                if !known.contains(column) {
                    known.push(column, meaning);
                }
            }
            known.sort(columns);
        }
    }
}

/// Finds the column with the name of the company, if no column has a name such as `Company`. These
/// steps are tried in order:
///
/// 1. The first column `Name` whose values are the names of companies. If there is a column for a
///    contact person and none for a full name, the column `Name` may have any values. Then a column
///    such as `Nombre` ("name" or "first name") counts too, unless a column has last names.
/// 2. If there is no column `Name`: a column such as `Customer`, or else one such as `Legal name`.
/// 3. If all names are in objects of JSON or XML: the name in the object that also has domains,
///    email addresses or phone numbers.
fn name_companies<'c>(
    known: &mut KnownColumns<'c>,
    columns: &'c [String],
    records: &[Map<String, Value>],
) {
    let has_last_name = known.has(Meaning::LastName);
    let is_with_contact = known.has(Meaning::Contact) && !known.has(Meaning::FullName);
    if !known.has(Meaning::Company) {
        let mut is_found = false;
        known.change(|column, meaning| {
            let is_name =
                meaning == Meaning::Name && (is_with_contact || has_companies(column, records));
            let may_be_name = meaning == Meaning::FirstName && !has_last_name && is_with_contact;
            let is_first = (is_name || may_be_name) && !is_found;
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
    let is_outside = |(column, _): &(&str, Meaning)| outer_and_inner(columns, column).is_none();
    let is_named = known.iter().filter(is_outside).any(|(_, meaning)| {
        matches!(meaning, Meaning::Company | Meaning::Name) || PERSON_NAMES.contains(&meaning)
    });
    if !is_named && let Some(column) = name_in_object(known, columns) {
        known.push(column, Meaning::Company);
        known.sort(columns);
    }
}

/// Returns the column with a company's name in an object of JSON or XML, such as `tags.name`. The
/// object must also have a known column for a domain, email addresses or phone numbers, such as
/// `tags.website`. An object that also has a person's name, such as a first name, does not count:
/// it describes a person. Returns `None` if there is no such column, or more than one.
fn name_in_object<'c>(known: &KnownColumns<'_>, columns: &'c [String]) -> Option<&'c str> {
    let is_key = |meaning: Meaning| {
        meaning.is_of_phones() || matches!(meaning, Meaning::Domains | Meaning::Emails)
    };
    let is_company = |object: &str| {
        let is_in = |column: &str| column.rsplit_once('.').is_some_and(|(it, _)| it == object);
        let has_keys = known.iter().any(|(column, meaning)| is_in(column) && is_key(meaning));
        let mut meanings = columns.iter().filter(|column| is_in(column)).filter_map(|column| {
            let (_, inner) = column.rsplit_once('.')?;
            usual_meaning(inner)
        });
        has_keys && !meanings.any(|meaning| PERSON_NAMES.contains(&meaning))
    };
    let mut names = columns.iter().map(String::as_str).filter(|column| {
        outer_and_inner(columns, column).is_some_and(|(object, inner)| {
            usual_meaning(inner) == Some(Meaning::Name) && is_company(object)
        })
    });
    names.next().filter(|_| names.next().is_none())
}

/// Finds the meaning of columns from their values, and adds these columns to `known`. Only columns
/// without a usual name are examined.
fn add_by_values<'c>(
    known: &mut KnownColumns<'c>,
    columns: &'c [String],
    records: &[Map<String, Value>],
    groups: &Groups,
) {
    let of_name = known.clone();
    let is_unknown = |column: &&String| {
        !of_name.contains(column)
            && !has_members(columns, column)
            && meaning_of_name(columns, column, groups).is_none()
            && !is_of_second_person(column, columns, &of_name)
    };
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
            known.push_by_values(column, meaning);
        }
    }
    known.sort(columns);
}

/// Whether a column is about a second person of the row: it has the same prefix as a column that
/// repeats the person's name and is not read, such as `Accounting phone` beside `Contact` and
/// `Accounting contact`.
fn is_of_second_person(column: &str, columns: &[String], known: &KnownColumns<'_>) -> bool {
    let column = column.to_lowercase();
    let mut names = known.iter().filter(|(_, meaning)| PERSON_NAMES.contains(meaning));
    names.any(|(name, _)| {
        let name = name.to_lowercase();
        let others = columns.iter().filter(|other| !known.contains(other));
        let mut others = others.map(|other| other.to_lowercase());
        others.any(|other| {
            let prefix = other.strip_suffix(&name).filter(|prefix| prefix.ends_with(' '));
            prefix.is_some_and(|prefix| column.starts_with(prefix))
        })
    })
}

/// Returns the meaning of a column's name ([`meaning_among`]). If the name has no meaning, but the
/// column is in a group (columns with the same prefix), returns the meaning of the name without the
/// prefix: `EMAIL` for `KNT_EMAIL`. Objects of JSON and XML, and their members, are in no group: in
/// `contact.email`, `contact` is the name of an object and not a prefix.
fn meaning_of_name(columns: &[String], column: &str, groups: &Groups) -> Option<Meaning> {
    let is_object_or_member =
        || has_members(columns, column) || outer_and_inner(columns, column).is_some();
    let in_group = || groups.meaning_in_group(column).filter(|_| !is_object_or_member());
    meaning_among(columns, column).or_else(in_group)
}

/// Returns the meaning of a column. In JSON and XML, a column such as `company.name` is a member of
/// the object `company`. The first of these rules that applies decides:
///
/// - An object itself has no meaning.
/// - If the whole name is a usual name, it has this meaning: `company.phone` means the same as
///   `Company phone`.
/// - Members of an object that is about others, such as `created_by` or `parent`, have no meaning.
/// - The name in the object of a company is the company's name. All other names, and job titles,
///   have no meaning, because it is not known whose they are.
/// - Other members have the meaning of their own name: `desk.email` means the same as `email`.
fn meaning_among(columns: &[String], column: &str) -> Option<Meaning> {
    if has_members(columns, column) {
        return None;
    }
    let Some((outer, inner)) = outer_and_inner(columns, column) else { return meaning(column) };
    let of_whole = usual_meaning(column);
    if is_about_others(outer) {
        return of_whole;
    }
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
    /// decide the kind of the records, unless `kind` does:
    ///
    /// - The records are people if there is a column for a first name, a last name, a full name or
    ///   a contact. Columns for a name and a job title are also enough. But they are not enough if
    ///   there is a column for a website and none for a company.
    /// - If there is also a column for a company, each record is a company and a person who works
    ///   there.
    /// - Otherwise the records are companies if there is a column for a name or a company.
    /// - Otherwise they are facts of domains, if there are columns for a domain, and for a page
    ///   rank or an IP address.
    /// - Otherwise returns `None`.
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
            None if known.has(Meaning::Company) && has_people(&known) => {
                rules_of_both(&known).into()
            }
            None => vec![rules_of_kind(kind_of(&known)?, &known)],
        };
        if rules.iter().any(ColumnRules::is_empty) {
            return None;
        }
        let is_used = |column: &str| {
            rules.iter().any(|rules| rules.used.iter().any(|(known, _)| known == column))
        };
        let is_unused = |column: &&String| !is_used(column) && !has_members(columns, column);
        let unused = columns.iter().filter(is_unused).cloned().collect();
        let by_values = known.by_values().iter().filter(|column| is_used(column));
        let by_values = by_values.map(|&column| column.to_owned()).collect();
        let rules = rules.into_iter().map(ColumnRules::into_rule).collect();
        Some(Synonyms { mapping: Mapping::of(rules), unused, by_values })
    }
}

/// Whether the records are people, or companies with a contact person.
/// [`Mapping::from_synonyms`] has the rules.
fn has_people(known: &KnownColumns<'_>) -> bool {
    let has_employer = known.has(Meaning::Company) || !known.has(Meaning::Domains);
    known.has_any(&PERSON_NAMES)
        || (known.has(Meaning::Name) && known.has(Meaning::Title) && has_employer)
}

/// Returns the kind of the records, which [`Mapping::from_synonyms`] describes. Returns `None` if
/// the columns show no kind.
fn kind_of(known: &KnownColumns<'_>) -> Option<RecordType> {
    let is_ranked = known.has_any(&[Meaning::PageRank, Meaning::Ip]);
    match () {
        () if has_people(known) => Some(RecordType::Person),
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
        let found = known(&["desk", "desk.name", "desk.first_name", "desk.email", "desk.tel"]);
        let meanings: Vec<Meaning> = found.into_iter().map(|(_, meaning)| meaning).collect();
        assert_eq!(meanings, [Meaning::Emails, Meaning::Phones]);
        let found = known(&["name", "parent", "parent.website", "created_by", "created_by.email"]);
        assert_eq!(found, [("name".to_owned(), Meaning::Name)]);
        let found = known(&["tags", "tags.name", "tags.website", "tags.brand"]);
        assert_eq!(found[0], ("tags.name".to_owned(), Meaning::Company));
        let found = known(&["KNT.NAME", "KNT.EMAIL", "KNT.TEL"]);
        assert_eq!(found.len(), 3, "no column is an object, so the prefix is that of a group");
    }

    #[test]
    fn only_columns_without_a_usual_name_are_recognised_by_their_values() {
        let columns = ["First", "Last", "Auftritt"].map(str::to_owned);
        let record = |site: &str| {
            let cells = [("First", "Ada"), ("Last", "Byte"), ("Auftritt", site)];
            cells.map(|(column, cell)| (column.to_owned(), cell.into())).into_iter().collect()
        };
        let records = ["quill.example", "ink.example", "nib.example"].map(record);
        let found = Mapping::from_synonyms(&columns, &records, None).unwrap();
        assert_eq!(found.by_values, ["Auftritt"]);
    }

    #[test]
    fn columns_of_a_second_person_are_not_recognised_by_their_values() {
        let columns = ["Contact", "Mail", "Accounts contact", "Accounts Mail"].map(str::to_owned);
        let record = |name: &str| {
            let cells = columns.clone().map(|column| {
                let cell = match column.ends_with("Mail") {
                    true => format!("{name}.{}@quill.example", column.len()),
                    false => format!("Ada {name}"),
                };
                (column, cell.into())
            });
            cells.into_iter().collect()
        };
        let records = ["Byte", "Quill", "Nib"].map(record);
        let known = Synonyms::known(&columns, &records);
        let found: Vec<&str> = known.iter().map(|(column, _)| column).collect();
        assert_eq!(found, ["Contact", "Mail"]);
    }

    #[test]
    fn a_thousand_columns_are_understood_at_once() {
        let columns: Vec<String> = (0..1_000).map(|number| format!("AB_{number}x")).collect();
        assert!(Mapping::from_synonyms(&columns, &[], None).is_none());
    }
}
