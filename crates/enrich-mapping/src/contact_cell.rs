//! Reads a cell with a person's name and with other facts about the person, as people keep them in
//! lists: `Ada Byte (Director), ada@quill.example, mobile 020 7946 0123`.

use crate::address::is_email;
use crate::person_text::{has_role, is_nobody, is_whole_name};
use crate::phone_text::{is_like_phone, is_phone_word};

/// A cell of a column with whole names, such as `Contact`.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ContactCell {
    /// The text with the person's name, without email addresses and phone numbers. It may contain
    /// more than the name: `Ada Byte (Owner)`. The function `read_person` reads it.
    pub(crate) name: String,
    /// The person's job title.
    pub(crate) title: Option<String>,
    pub(crate) emails: Vec<String>,
    /// Texts with a phone number each, with the word before the number: `mobile 020 7946 0123`,
    /// `Fax 020 7946 0124`.
    pub(crate) phones: Vec<String>,
}

impl ContactCell {
    /// Reads a cell. If the text has email addresses or phone numbers, but no person's name beside
    /// them, the whole text is put unchanged into `name`, and the other fields are empty.
    pub(crate) fn read(text: &str) -> Self {
        let mut cell = Self::default();
        let rest = cell.take_emails(text);
        let rest = cell.take_phones(&rest);
        let has_addresses = !cell.emails.is_empty() || !cell.phones.is_empty();
        let name = match has_addresses {
            true => without_empty_parts(&rest.replace('"', "")),
            false => text.to_owned(),
        };
        // If the rest is one word, such as `Reception`, or a department, there is nobody to call.
        let has_name = name.split_whitespace().nth(1).is_some() && !is_nobody(&name);
        if has_addresses && !has_name {
            return Self { name: text.to_owned(), ..Self::default() };
        }
        cell.name = name;
        cell.take_title();
        cell
    }

    /// Moves the email addresses of a text into the cell. Returns the rest of the text.
    fn take_emails(&mut self, text: &str) -> String {
        if !text.contains('@') {
            return text.to_owned();
        }
        let mut rest = String::with_capacity(text.len());
        for token in text.split_inclusive([' ', '\n', '\t', ',', ';', '<', '>', '(', ')', '|']) {
            let end = token.trim_end_matches(|sign: char| !sign.is_alphanumeric()).len();
            let (word, after) = token.split_at(end);
            let word = word.trim_start_matches(|sign: char| !sign.is_alphanumeric());
            match word.contains('@') && is_email(word) {
                true => {
                    self.emails.push(word.to_owned());
                    rest.push_str(after);
                }
                false => rest.push_str(token),
            }
        }
        rest
    }

    /// Moves the phone numbers of a text into the cell, each with the label before it. Returns the
    /// rest of the text.
    fn take_phones(&mut self, text: &str) -> String {
        let mut kept = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(start) = rest.find(|sign| is_digit(sign) || sign == '+') {
            let (before, from) = rest.split_at(start);
            let end = from.find(|sign| !is_of_number(sign)).unwrap_or(from.len());
            let (run, after) = from.split_at(end);
            let number = run.trim_end_matches(|sign: char| !is_digit(sign));
            // If the number contains the closing bracket, it begins with the opening bracket:
            // `(020) 7946 0123`.
            let is_bracketed = before.ends_with('(') && number.contains(')');
            let before = if is_bracketed { before.trim_end_matches('(') } else { before };
            if is_like_phone(number) {
                let (name, label) = split_label(before);
                kept.push_str(name);
                kept.push_str(", ");
                let bracket = if is_bracketed { "(" } else { "" };
                self.phones.push(format!("{label} {bracket}{number}").trim_start().to_owned());
            } else {
                kept.push_str(before);
                kept.push_str(run);
            }
            rest = after;
        }
        kept.push_str(rest);
        kept
    }

    /// Sets the title to the part of the name that is a job title: `Director` in `Ada Byte -
    /// Director`, `CEO` in `Ada Byte CEO`.
    fn take_title(&mut self) {
        let last = self.name.rsplit_once(' ').filter(|(name, last)| {
            let is_acronym = last.len() > 1 && last.bytes().all(|sign| sign.is_ascii_uppercase());
            is_acronym && has_role(last) && is_whole_name(name)
        });
        if let Some((name, title)) = last {
            self.title = Some(title.to_owned());
            self.name = name.trim_end_matches([',', ' ']).to_owned();
            return;
        }
        if parts(&self.name).any(is_whole_name) {
            self.title = parts(&self.name).find(|part| has_role(part)).map(str::to_owned);
        }
    }
}

/// Returns the parts of a text between commas, dashes and brackets that are not empty.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    text.split([',', ';', '\n', '|', '(', ')'])
        .flat_map(|part| part.split(" - "))
        .flat_map(|part| part.split(" – "))
        .map(str::trim)
        .filter(|part| part.contains(char::is_alphanumeric))
}

/// Leaves out the empty parts of a text: `Ada Byte` for `Ada Byte <>, ,`.
fn without_empty_parts(text: &str) -> String {
    let parts = text.split([',', ';', '\n', '|', '<', '>']).map(str::trim);
    let parts = parts.filter(|part| part.contains(char::is_alphanumeric));
    let trimmed = parts.map(|part| part.trim_end_matches(['(', ' ', '-', '–', '/', ':']));
    trimmed.collect::<Vec<_>>().join(", ")
}

/// Splits the labels before a phone number off the end of a text: `Ada Byte, ` and `mobile:` for
/// `Ada Byte, mobile: `.
fn split_label(text: &str) -> (&str, &str) {
    let trimmed = text.trim_end();
    let start = trimmed.rfind([' ', ',', ';', '\n', '(', '|']).map_or(0, |at| at + 1);
    let (before, label) = trimmed.split_at_checked(start).unwrap_or((trimmed, ""));
    match is_phone_word(label.trim_end_matches([':', '.'])) {
        true => (before, label),
        false => (text, ""),
    }
}

fn is_digit(sign: char) -> bool {
    sign.is_ascii_digit()
}

fn is_of_number(sign: char) -> bool {
    is_digit(sign) || " +-./()\u{a0}".contains(sign)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(name: &str, title: &str, emails: &[&str], phones: &[&str]) -> ContactCell {
        let texts = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
        ContactCell {
            name: name.to_owned(),
            title: (!title.is_empty()).then(|| title.to_owned()),
            emails: texts(emails),
            phones: texts(phones),
        }
    }

    #[test]
    fn addresses_and_titles_are_split_off_the_name() {
        let ada = "ada@quill.example";
        for (text, expected) in [
            ("Ada Byte", cell("Ada Byte", "", &[], &[])),
            ("Ada Byte, 020 7946 0123", cell("Ada Byte", "", &[], &["020 7946 0123"])),
            ("Ada Byte (020) 7946-0123", cell("Ada Byte", "", &[], &["(020) 7946-0123"])),
            ("Ada Byte (020 7946 0123)", cell("Ada Byte", "", &[], &["020 7946 0123"])),
            (
                "Ada Byte mob: +44 20 7946 0123",
                cell("Ada Byte", "", &[], &["mob: +44 20 7946 0123"]),
            ),
            ("Ada Byte, Fax 020 7946 0124", cell("Ada Byte", "", &[], &["Fax 020 7946 0124"])),
            ("Ada Byte <ada@quill.example>", cell("Ada Byte", "", &[ada], &[])),
            ("\"Byte, Ada\" <ada@quill.example>", cell("Byte, Ada", "", &[ada], &[])),
            ("ada@quill.example (Ada Byte)", cell("(Ada Byte)", "", &[ada], &[])),
            (
                "Ada Byte, Head of Sales, ada@quill.example / 020 7946 0123",
                cell("Ada Byte, Head of Sales", "Head of Sales", &[ada], &["020 7946 0123"]),
            ),
            ("Ada Byte - Director", cell("Ada Byte - Director", "Director", &[], &[])),
            ("Ada Byte (Owner)", cell("Ada Byte (Owner)", "Owner", &[], &[])),
            ("Ada Byte CEO", cell("Ada Byte", "CEO", &[], &[])),
        ] {
            assert_eq!(ContactCell::read(text), expected, "{text}");
        }
    }

    #[test]
    fn other_texts_are_returned_unchanged() {
        for text in [
            "ada@quill.example",
            "020 7946 0123",
            "Reception 020 7946 0123",
            "Sales Team 020 7946 0123",
            "Ada Byte 2nd",
            "Ada Byte, 01.11.2026",
            "Ada Byte 12345",
            "Director",
            "A @ b",
            "+",
            "",
        ] {
            assert_eq!(ContactCell::read(text), cell(text, "", &[], &[]), "{text}");
        }
    }
}
