//! The rules for rows that each have a company and a person who works there.

use crate::column_rules::ColumnRules;
use crate::known_columns::{KnownColumns, PERSON_NAMES};
use crate::meaning::{Meaning, target};
use crate::native::{Field, RecordType};
use crate::transform::Transform;

/// Returns the rules for rows that each have a company and a person who works there: those of the
/// person, and those of the company. Columns such as `Email` may be about both:
///
/// - Email addresses belong to the person. Addresses of roles, such as `info@`, belong to the
///   company. So do all addresses of a column if another column has those of the person: its name
///   says so, or it follows the person's name while the first column is between the names of the
///   company and the person. If the person is only the company's contact, and there
///   is one column of addresses, its addresses belong to the company too.
/// - LinkedIn pages of companies belong to the company, other ones to the person. All pages of a
///   column belong to the company if another column has those of the person.
/// - Phone numbers belong to the person. If the column is between those of the company and those of
///   the person, they belong to the company. They also do if the person is only the company's
///   contact, and the name of the column does not say that it has the number of a person.
///
/// If a row has no person, all its values belong to the company. If it has no company, the email
/// addresses and phone numbers of the company belong to the person.
pub(crate) fn rules_of_both(known: &KnownColumns<'_>) -> [ColumnRules; 2] {
    let company_at = known.position(&[Meaning::Company]).unwrap_or(usize::MAX);
    let person_at = known.position(&PERSON_NAMES).unwrap_or(0);
    let mut after = known.iter().skip(person_at);
    let has_emails_after = after.any(|(_, meaning)| meaning == Meaning::Emails);
    let has_own_emails = known.has(Meaning::PersonEmails);
    let is_named = known.has_any(&[Meaning::FirstName, Meaning::LastName, Meaning::FullName]);
    let mut rules = RulesOfBoth {
        person: ColumnRules::of_both(RecordType::Person),
        company: ColumnRules::of_both(RecordType::Company),
        is_contact: !is_named,
    };
    for (at, (column, meaning)) in known.iter().enumerate() {
        let is_between = company_at < at && at < person_at;
        match meaning {
            Meaning::Emails if has_own_emails || (is_between && has_emails_after) => {
                rules.add_to_company(Field::Emails, column);
            }
            Meaning::PersonEmails => rules.add_emails(column, true),
            Meaning::Emails => rules.add_emails(column, has_emails_after),
            Meaning::Phones if rules.is_contact || is_between => {
                rules.add_to_company(Field::Phones, column);
            }
            Meaning::CompanyEmails => rules.add_to_company(Field::Emails, column),
            Meaning::CompanyPhones => rules.add_to_company(Field::Phones, column),
            Meaning::Phones | Meaning::PersonPhones => {
                rules.person.add(Field::Phones, column, None);
                rules.company.add_if_alone(Field::Phones, column);
            }
            Meaning::LinkedIn if known.has(Meaning::PersonLinkedIn) => {
                rules.company.add(Field::LinkedIn, column, None);
            }
            Meaning::LinkedIn | Meaning::PersonLinkedIn => rules.add_pages(column),
            Meaning::Name if known.has_last_names_in_name() => {
                rules.person.add(Field::LastName, column, None);
            }
            Meaning::Name if known.has(Meaning::Contact) => {
                rules.company.add(Field::Name, column, None);
            }
            _ => rules.add(column, meaning),
        }
    }
    let RulesOfBoth { mut person, mut company, .. } = rules;
    person.add_prefixes(known);
    company.add_prefixes(known);
    [person, company]
}

struct RulesOfBoth {
    person: ColumnRules,
    company: ColumnRules,
    /// Whether a single column names the person, as the company's contact. Otherwise there are
    /// columns for first and last names, or for full names.
    is_contact: bool,
}

impl RulesOfBoth {
    /// Reads a field of the company. If a row has no company, the field is the person's.
    fn add_to_company(&mut self, field: Field, column: &str) {
        self.company.add(field, column, None);
        self.person.add_if_alone(field, column);
    }

    fn add_emails(&mut self, column: &str, has_emails_after: bool) {
        let of_roles = (!self.is_contact || has_emails_after).then_some(Transform::RoleAddress);
        self.person.add(Field::Emails, column, Some(Transform::PersonAddress));
        self.company.add(Field::Emails, column, of_roles);
        self.company.add_if_alone(Field::Emails, column);
    }

    fn add_pages(&mut self, column: &str) {
        self.person.add(Field::LinkedIn, column, Some(Transform::PersonPage));
        self.company.add(Field::LinkedIn, column, Some(Transform::CompanyPage));
        self.company.add_if_alone(Field::LinkedIn, column);
    }

    /// Reads a column whose name alone says whether its values are the person's, the company's, or
    /// those of both.
    fn add(&mut self, column: &str, meaning: Meaning) {
        if let Some(target) = target(RecordType::Person, meaning, !self.is_contact) {
            self.person.add_target(target, column, meaning);
        }
        let of_company = match meaning {
            Meaning::Name => None,
            _ => target(RecordType::Company, meaning, true),
        };
        if let Some(target) = of_company {
            self.company.add_target(target, column, meaning);
        }
    }
}
