//! Groups of columns whose names begin with the same prefix. Databases often export them so: the
//! columns of the company begin with `ORG_`, for example, and those of the person with `PER_`.

use std::collections::HashMap;

use crate::column_name::meaning;
use crate::known_columns::{KnownColumns, PERSON_NAMES};
use crate::meaning::Meaning;

/// Minimum number of columns in a group.
const MIN_COLUMNS: usize = 3;
/// The texts that end a prefix.
const SEPARATORS: [&str; 4] = ["_", " - ", ".", ":"];

/// The groups of a file's columns: columns whose names begin with the same prefix, such as `ORG_`.
pub(crate) struct Groups {
    /// The prefixes of the groups, in lower case, each with the number of its columns.
    sizes: HashMap<String, usize>,
    /// Whether at least two thirds of the file's columns are in groups.
    has_most: bool,
}

impl Groups {
    pub(crate) fn of(columns: &[String]) -> Self {
        let mut sizes: HashMap<String, usize> = HashMap::new();
        for (prefix, _) in columns.iter().filter_map(|column| parts(column)) {
            *sizes.entry(prefix.to_lowercase()).or_default() += 1;
        }
        sizes.retain(|_, size| *size >= MIN_COLUMNS);
        let in_groups: usize = sizes.values().sum();
        Self { sizes, has_most: 3 * in_groups >= 2 * columns.len() }
    }

    /// Returns the meaning that a column's name has without the prefix of its group. For example,
    /// `KNT_EMAIL` has the meaning of `EMAIL`. If the rest has no meaning, a number at its end is
    /// left out too: `KNT_TEL2` has the meaning of `TEL`.
    ///
    /// Returns `None` if this finds no meaning, if the column is in no group, or if less than two
    /// thirds of the file's columns are in groups.
    pub(crate) fn meaning_in_group(&self, column: &str) -> Option<Meaning> {
        let (_, rest) = parts(column)?;
        self.group_of(column).filter(|_| self.has_most)?;
        meaning(rest).or_else(|| meaning(rest.trim_end_matches(|sign: char| sign.is_ascii_digit())))
    }

    /// Changes the meanings of columns in the groups that are about the company or the person. In
    /// the company's group, the emails, phone numbers and LinkedIn pages become those of the
    /// company. In the person's group, they become those of the person. [`Meaning::Name`] in the
    /// company's group becomes [`Meaning::Company`], if no column has that meaning yet.
    pub(crate) fn assign(&self, known: &mut KnownColumns<'_>) {
        let subjects = self.subjects(known);
        let has_company = known.has(Meaning::Company);
        known.change(|column, meaning| {
            let subject = self.group_of(column).and_then(|prefix| *subjects.get(&prefix)?);
            match (subject, meaning) {
                (Some(Subject::Company), Meaning::Name) if !has_company => Meaning::Company,
                (Some(Subject::Company), Meaning::Emails) => Meaning::CompanyEmails,
                (Some(Subject::Company), Meaning::LinkedIn) => Meaning::CompanyLinkedIn,
                (Some(Subject::Company), meaning) if meaning.is_of_phones() => {
                    Meaning::CompanyPhones
                }
                (Some(Subject::Person), Meaning::Emails) => Meaning::PersonEmails,
                (Some(Subject::Person), Meaning::LinkedIn) => Meaning::PersonLinkedIn,
                (Some(Subject::Person), Meaning::Phones) => Meaning::PersonPhones,
                (_, meaning) => meaning,
            }
        });
    }

    /// Returns the prefix of each group that has known columns, and whether the group is about the
    /// company or the person. The second value is `None` if the group has columns of both, or of
    /// neither.
    fn subjects(&self, known: &KnownColumns<'_>) -> HashMap<String, Option<Subject>> {
        let mut groups: HashMap<String, KnownColumns<'_>> = HashMap::new();
        for (column, meaning) in known.iter() {
            if let Some(prefix) = self.group_of(column) {
                groups.entry(prefix).or_default().push(column, meaning);
            }
        }
        groups.into_iter().map(|(prefix, columns)| (prefix, Subject::of(&columns))).collect()
    }

    /// Returns the prefix of the group that has a column, in lower case; `None` if the column is in
    /// no group.
    fn group_of(&self, column: &str) -> Option<String> {
        let prefix = parts(column)?.0.to_lowercase();
        self.sizes.contains_key(&prefix).then_some(prefix)
    }
}

/// What the columns of a group are about.
#[derive(Clone, Copy)]
enum Subject {
    Company,
    Person,
}

impl Subject {
    fn of(group: &KnownColumns<'_>) -> Option<Self> {
        let has_company = group.has_any(&[Meaning::Company, Meaning::Name, Meaning::Domains]);
        match (has_company, group.has_any(&PERSON_NAMES)) {
            (true, false) => Some(Self::Company),
            (false, true) => Some(Self::Person),
            _ => None,
        }
    }
}

/// Splits a column's name after its first separator: into the prefix of a group, with the
/// separator, and the rest. Returns `None` if one of these parts would be empty.
fn parts(column: &str) -> Option<(&str, &str)> {
    let ends = SEPARATORS.iter().filter_map(|text| Some((column.find(text)?, text.len())));
    let (at, length) = ends.min()?;
    (at > 0 && at + length < column.len()).then(|| column.split_at(at + length))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn a_column_of_a_group_has_the_meaning_of_its_name_without_the_prefix() {
        let names = columns(&["KNT_EMAIL", "knt_TEL2", "Knt_Xyz", "ORG - Website", "ORG - City"]);
        let groups = Groups::of(&names);
        assert_eq!(groups.meaning_in_group("KNT_EMAIL"), None, "only three of five are in a group");
        let names = columns(&["KNT_EMAIL", "knt_TEL2", "Knt_Xyz", "City"]);
        let groups = Groups::of(&names);
        assert_eq!(groups.meaning_in_group("KNT_EMAIL"), Some(Meaning::Emails));
        assert_eq!(groups.meaning_in_group("knt_TEL2"), Some(Meaning::Phones));
        assert_eq!(groups.meaning_in_group("Knt_Xyz"), None);
        assert_eq!(groups.meaning_in_group("City"), None);
        assert_eq!(groups.meaning_in_group("_EMAIL"), None);
        assert_eq!(groups.meaning_in_group("EMAIL_"), None);
    }

    #[test]
    fn addresses_belong_to_the_subject_that_their_group_names() {
        let names = columns(&["o_name", "o_mail", "o_tel", "p_last", "p_mail", "p_tel", "mail"]);
        let mut known: KnownColumns<'_> = [
            (names[0].as_str(), Meaning::Name),
            (names[1].as_str(), Meaning::Emails),
            (names[2].as_str(), Meaning::PersonPhones),
            (names[3].as_str(), Meaning::LastName),
            (names[4].as_str(), Meaning::Emails),
            (names[5].as_str(), Meaning::Phones),
            (names[6].as_str(), Meaning::Emails),
        ]
        .into_iter()
        .collect();
        Groups::of(&names).assign(&mut known);
        let meanings: Vec<Meaning> = known.iter().map(|(_, meaning)| meaning).collect();
        assert_eq!(
            meanings,
            [
                Meaning::Company,
                Meaning::CompanyEmails,
                Meaning::CompanyPhones,
                Meaning::LastName,
                Meaning::PersonEmails,
                Meaning::PersonPhones,
                Meaning::Emails,
            ]
        );
    }
}
