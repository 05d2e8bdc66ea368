//! The parts of a native record that only people have: the name, and the cell with the name.

use enrich_text::Country;
use serde_json::{Map, Value};

use super::RecordDraft;
use crate::contact_cell::ContactCell;
use crate::json_fields::{set, set_list};
use crate::name_order::split_family_name_first;
use crate::outcome::Note;
use crate::person_text::{
    NO_WHOLE_NAME, NOBODY, PersonText, has_role, problem_of_name, read_person,
};

impl RecordDraft {
    /// Reads the person's name from the first, the last and the full name ([`read_person`]). If the
    /// full name has no comma, or only one before a job title, an email address of the record may
    /// show that the family name is first.
    pub(crate) fn read_name(&mut self, full: Option<String>) {
        let has_text = full.is_some();
        // `Byte, Ada (Director)` has an order, but `Byte Ada, Director` has none.
        let is_order = |(_, after): (&str, &str)| {
            let next = after.split([',', '(']).next().unwrap_or_default();
            !next.split(" - ").next().is_some_and(has_role)
        };
        let has_order = full.as_ref().is_none_or(|full| full.split_once(',').is_some_and(is_order));
        match read_person(self.first_name.take(), self.last_name.take(), full) {
            PersonText::Name(Some(first), Some(last)) if !has_order => {
                let order = split_family_name_first(&format!("{first} {last}"), &self.emails);
                let (first, last) = order.unwrap_or((first, last));
                (self.first_name, self.last_name) = (Some(first), Some(last));
            }
            PersonText::Name(None, None) => self.name_problem = has_text.then_some(NO_WHOLE_NAME),
            PersonText::Name(first, last) => (self.first_name, self.last_name) = (first, last),
            PersonText::Nobody => self.name_problem = Some(NOBODY),
        }
    }

    /// Adds the job title, the email addresses and the phone numbers that are in the same cell as
    /// the person's name. If the record already has a title, from a separate column, keeps it.
    ///
    /// If the cell has further people, the values of other columns may be theirs. So of the email
    /// addresses in other columns, at most the first is kept, and none if the cell has an address
    /// itself. The same holds for phone numbers.
    pub(crate) fn add_contact(&mut self, cell: &ContactCell, country: Option<Country>) {
        self.title = self.title.take().or_else(|| cell.title.clone());
        if cell.further_people > 0 {
            self.notes.extend(std::iter::repeat_n(Note::FurtherPerson, cell.further_people));
            self.emails.truncate(usize::from(cell.emails.is_empty()));
            self.phones.truncate(usize::from(cell.phones.is_empty()));
        }
        cell.emails.iter().for_each(|text| self.add_email(text));
        cell.phones.iter().for_each(|text| self.add_phone(text, country));
    }

    /// Adds the fields of a person to the native record, or returns the reason why no record can be
    /// made.
    pub(super) fn finish_person(self, record: &mut Map<String, Value>) -> Result<(), &'static str> {
        let (first, last) = (self.first_name.as_deref(), self.last_name.as_deref());
        if let Some(problem) = problem_of_name(first, last) {
            return Err(self.name_problem.unwrap_or(problem));
        }
        set(record, "first_name", self.first_name.clone());
        set(record, "last_name", self.last_name.clone());
        set(record, "title", self.title.clone());
        set(record, "company", self.company.clone());
        set(record, "company_domain", self.company_domain.clone());
        if let Some(country) = self.countries.first() {
            record.insert("country".to_owned(), country.alpha2().into());
        }
        let page = self.pages.into_iter().map(|(_, page)| page).next();
        set(record, "linkedin", page);
        set_list(record, "emails", self.emails);
        set_list(record, "phones", self.phones);
        Ok(())
    }
}
