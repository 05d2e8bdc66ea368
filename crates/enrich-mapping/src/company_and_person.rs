//! The rules for rows that each have a company and a person who works there.

use crate::column_rules::ColumnRules;
use crate::known_columns::{KnownColumns, PERSON_NAMES};
use crate::meaning::{Meaning, target};
use crate::native::{Field, RecordType};
use crate::transform::Transform;

/// Returns the rules for rows that each have a company and a person who works there: first the
/// rules of the person, then those of the company. A column such as `Email` may have values of
/// both. The person is only the company's contact if a column such as `Contact` has the person's
/// name, and no column has first, last or full names.
///
/// Email addresses:
///
/// - An address of a role, such as `info@`, belongs to the company. Any other address belongs to
///   the person.
/// - All addresses in a column `Email` belong to the company if the name of another column says
///   that it has the person's addresses (`Contact email`).
/// - All addresses in a column `Email` also belong to the company if this column is between the
///   names of the company and the person, and another column `Email` follows the person's name.
/// - If the person is only the company's contact, and no column `Email` follows the contact's name,
///   all addresses belong to the company. Addresses that are not of a role belong to the person
///   too.
///
/// LinkedIn pages:
///
/// - A page of a company belongs to the company. Any other page belongs to the person.
/// - All pages in a column `LinkedIn` belong to the company if the name of another column says that
///   it has the person's pages.
///
/// Phone numbers:
///
/// - All numbers in a column belong to the person if the column's name says so (`Mobile`).
/// - Otherwise they belong to the company if the column is between the names of the company and the
///   person, or if the person is only the company's contact.
/// - Otherwise they belong to the person.
///
/// If a row has no person, all its values belong to the company. If a row has no company, the email
/// addresses and phone numbers that would belong to the company belong to the person.
pub(crate) fn rules_of_both(known: &KnownColumns<'_>) -> [ColumnRules; 2] {
    let company_at = known.position(&[Meaning::Company]).unwrap_or(usize::MAX);
    let person_at = known.position(&PERSON_NAMES).unwrap_or(0);
    let mut after = known.iter().skip(person_at);
    let has_emails_after = after.any(|(_, meaning)| meaning == Meaning::Emails);
    let has_own_emails = known.has(Meaning::PersonEmails);
    let is_named = PERSON_NAMES.into_iter().any(|it| it != Meaning::Contact && known.has(it));
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
    /// Whether no column has first, last or full names. Then a column such as `Contact` has the
    /// person's name, and the person is only the company's contact.
    is_contact: bool,
}

impl RulesOfBoth {
    /// Adds a rule that reads a field of the company from a column. If a row has no company, the
    /// field belongs to the person.
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

    /// Adds rules for a column whose name alone says whether its values belong to the person, to
    /// the company, or to both.
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
