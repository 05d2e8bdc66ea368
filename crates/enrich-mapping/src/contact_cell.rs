//! Reads a cell with a person's name and with other facts about the person, as people keep them in
//! lists: `Ada Byte (Director), ada@quill.example, mobile 020 7946 0123`.

use crate::address::is_email;
use crate::person_text::{
    further_names, has_role, is_department_word, is_nobody, is_whole_name, names_two, split_people,
};
use crate::phone_text::{is_like_phone, is_phone_word};

/// A cell of a column with whole names, such as `Contact`.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ContactCell {
    /// The name, which may still have remarks, such as `(Director)`. The function `read_person`
    /// removes them.
    pub(crate) name: String,
    /// The person's job title.
    pub(crate) title: Option<String>,
    pub(crate) emails: Vec<String>,
    /// Texts with a phone number each, with the word before the number: `mobile 020 7946 0123`,
    /// `Fax 020 7946 0124`.
    pub(crate) phones: Vec<String>,
    /// The number of further people in the cell. Their names, titles, addresses and numbers are not
    /// in the other fields.
    pub(crate) further_people: usize,
}

impl ContactCell {
    /// Reads a cell. If it has several people, as in `Ada Byte / Bob Quill`, reads the first one.
    /// If the cell has email addresses or phone numbers, but no person's name beside them, the
    /// whole text is put unchanged into `name`, and the other fields are empty.
    pub(crate) fn read(text: &str) -> Self {
        let text = text.replace(['\u{a0}', '\u{202f}'], " ");
        let mut people: Vec<Self> = Vec::new();
        for part in parts_of_people(&text) {
            let cell = Self::of_one(part);
            match people.last_mut() {
                // Addresses and numbers without a name belong to the person before them.
                Some(before) if cell.name.is_empty() && cell.has_addresses() => before.append(cell),
                Some(before) if before.has_name() && !cell.has_name() && is_title(part) => {
                    before.append_title(part.trim());
                }
                Some(before) if !before.has_name() => *before = cell,
                _ => people.push(cell),
            }
        }
        let mut people = people.into_iter().filter(Self::has_name);
        let Some(first) = people.next() else {
            return Self { name: text, ..Self::default() };
        };
        let in_name = usize::from(names_two(&first.name)) + further_names(&first.name);
        let further_people = people.count() + in_name;
        // The addresses beside `Ada Byte, Bob Quill` may be those of either.
        let (emails, phones) = match in_name {
            0 => (first.emails, first.phones),
            _ => (Vec::new(), Vec::new()),
        };
        Self { further_people, emails, phones, ..first }
    }

    /// Reads a part of a cell that has at most one person, or a couple.
    fn of_one(text: &str) -> Self {
        let mut cell = Self::default();
        let rest = cell.take_emails(text);
        let rest = cell.take_phones(&rest);
        cell.name = match cell.has_addresses() {
            true => without_empty_parts(&rest.replace('"', "").replace("()", "")),
            false => text.trim().to_owned(),
        };
        cell.take_title();
        cell
    }

    /// Whether the cell names a person: with several words that are no department or job title, and
    /// no address.
    fn has_name(&self) -> bool {
        let mut names = parts(&self.name)
            .filter(|part| !part.split_whitespace().any(is_department_word))
            .flat_map(str::split_whitespace);
        // A text of several words without capitals is a remark: `no longer there`.
        let is_remark =
            self.name.split(' ').nth(2).is_some() && !self.name.contains(char::is_uppercase);
        names.nth(1).is_some() && !is_nobody(&self.name) && (!is_remark || !self.has_addresses())
    }

    fn has_addresses(&self) -> bool {
        !self.emails.is_empty() || !self.phones.is_empty()
    }

    fn append(&mut self, other: Self) {
        self.emails.extend(other.emails);
        self.phones.extend(other.phones);
    }

    /// Adds a further part of the job title: `Owner` in `Ada Byte, Pilot / Owner`.
    fn append_title(&mut self, part: &str) {
        /// Maximum length of a title, in bytes. Longer ones are no titles.
        const LONGEST: usize = 200;
        match &mut self.title {
            Some(title) if title.len() < LONGEST => {
                title.push_str(" / ");
                title.push_str(part);
            }
            Some(_) => {}
            None => self.title = Some(part.to_owned()),
        }
    }

    /// Moves the email addresses of a text into the cell. Returns the rest of the text.
    fn take_emails(&mut self, text: &str) -> String {
        if !text.contains('@') {
            return text.to_owned();
        }
        let is_end = |sign: char| " \t,;<>()[]|/\"".contains(sign);
        let mut rest = String::with_capacity(text.len());
        for token in text.split_inclusive(is_end) {
            let word = token.trim_end_matches(is_end);
            let address = word.strip_prefix("mailto:").unwrap_or(word);
            let address = address.trim_end_matches(['.', ':']);
            match address.contains('@') && is_email(address) {
                true => {
                    self.emails.push(address.to_owned());
                    rest.push_str(token.get(word.len()..).unwrap_or_default());
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
            rest = after;
            match split_label(before).filter(|_| is_like_phone(number)) {
                Some((name, label)) => {
                    kept.push_str(name);
                    kept.push_str(", ");
                    let bracket = if is_bracketed { "(" } else { "" };
                    let remark = run.ends_with('(').then(|| phone_remark(after)).flatten();
                    rest = remark.map_or(after, |(_, after)| after);
                    let remark = remark.map_or_else(String::new, |(word, _)| format!(" ({word})"));
                    let phone = format!("{label} {bracket}{number}{remark}");
                    self.phones.push(phone.trim_start().to_owned());
                }
                None => {
                    kept.push_str(before);
                    kept.push_str(run);
                }
            }
        }
        kept.push_str(rest);
        kept
    }

    /// Sets the title to the part of the name that is a job title: `Director` in `Ada Byte -
    /// Director`, `CEO` in `Ada Byte CEO`.
    fn take_title(&mut self) {
        // `Director: Ada Byte`, `CEO Ada Byte`, `Ada Byte CEO`, `Ada Byte Director`
        let is_acronym = |word: &str| {
            word.len() > 1 && word.bytes().all(|it| it.is_ascii_uppercase()) && has_role(word)
        };
        let split = self
            .name
            .split_once(": ")
            .filter(|(label, name)| !label.contains(' ') && is_whole_name(name))
            .map(|(label, name)| (name, label))
            .or_else(|| {
                let (first, name) = self.name.split_once(' ')?;
                (is_acronym(first) && is_whole_name(name)).then_some((name, first))
            })
            .or_else(|| {
                let (name, last) = self.name.rsplit_once(' ')?;
                let is_title = is_acronym(last)
                    || (parts(&self.name).nth(1).is_none()
                        && !name.split_whitespace().any(is_department_word)
                        && TITLES.contains(&last.to_lowercase().as_str()));
                (is_title && is_whole_name(name)).then_some((name, last))
            });
        if let Some((name, title)) = split {
            let title = has_role(title).then(|| title.to_owned());
            self.name = name.trim_end_matches([',', ' ']).to_owned();
            self.title = title;
            return;
        }
        let others: Vec<&str> = parts(&self.name).filter(|part| !has_role(part)).collect();
        if others.len() > 1 || others.iter().any(|part| part.contains(' ')) {
            self.title = parts(&self.name).find(|part| is_title(part)).map(str::to_owned);
        }
    }
}

/// Job titles that are no last names, so that one after a name is not a part of it.
const TITLES: [&str; 16] = [
    "director",
    "manager",
    "owner",
    "founder",
    "geschäftsführer",
    "geschäftsführerin",
    "inhaber",
    "inhaberin",
    "prokurist",
    "directeur",
    "directrice",
    "gérant",
    "gérante",
    "titolare",
    "gerente",
    "eigenaar",
];

/// Returns the parts of a cell that may each have a person. Semicolons, line breaks and slashes
/// separate them. So do commas, if several of the parts between them have a name and an address or
/// a number.
fn parts_of_people(text: &str) -> Vec<&str> {
    let is_person = |part: &&str| {
        let cell = ContactCell::of_one(part);
        cell.has_name() && cell.has_addresses()
    };
    let mut found = Vec::new();
    for part in split_people(text) {
        match part.split(',').filter(is_person).nth(1) {
            Some(_) => found.extend(part.split(',')),
            None => found.push(part),
        }
    }
    found
}

/// Whether a part of a cell is a job title, and not a remark such as `ask the owner`.
fn is_title(part: &str) -> bool {
    const OF_REMARKS: [&str; 9] =
        ["the", "ask", "call", "see", "via", "not", "no", "only", "former"];
    let is_of_remark = |word: &str| OF_REMARKS.contains(&word.to_lowercase().as_str());
    has_role(part) && !part.split_whitespace().any(is_of_remark)
}

/// Returns the parts of a text between commas, dashes and brackets that are not empty.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    text.split([',', '|', '(', ')'])
        .flat_map(|part| part.split(" - "))
        .flat_map(|part| part.split(" – "))
        .map(str::trim)
        .filter(|part| part.contains(char::is_alphanumeric))
}

/// Leaves out the parts of a text that have only labels of addresses and numbers, or numbers that
/// are no phone numbers: `Ada Byte` for `Ada Byte, E-Mail: <>, Ext. 12`.
fn without_empty_parts(text: &str) -> String {
    let parts = text.split([',', '|', '<', '>']).map(|part| {
        let part = part.trim().trim_end_matches(['(', ' ', '-', '–', '/', ':']);
        let end = part.rfind(' ').map_or(0, |at| at + 1);
        // The label of an address that was after the name: `Ada Byte E-Mail:`.
        match part.split_at_checked(end) {
            Some((name, label)) if is_label(label) => name.trim_end(),
            _ => part,
        }
    });
    let is_kept = |part: &&str| {
        part.contains(char::is_alphanumeric) && !part.contains(is_digit) && !is_label(part)
    };
    parts.filter(is_kept).collect::<Vec<_>>().join(", ")
}

/// Whether a text is a word before or between addresses and numbers, such as `Mail:` and `oder`.
fn is_label(text: &str) -> bool {
    const WORDS: [&str; 9] = ["mail", "email", "e-mail", "oder", "or", "od", "ou", "o", "und"];
    let word = text.trim_matches(|sign: char| !sign.is_alphanumeric()).to_lowercase();
    WORDS.contains(&word.as_str()) || is_phone_word(&word)
}

/// Splits the label before a phone number off the end of a text: `Ada Byte, ` and `mobile:` for
/// `Ada Byte, mobile: `. Returns `None` if the label is one of another number, such as `Nr.`.
fn split_label(text: &str) -> Option<(&str, &str)> {
    let trimmed = text.trim_end();
    let start = trimmed.rfind([' ', ',', '(', '|']).map_or(0, |at| at + 1);
    let (before, label) = trimmed.split_at_checked(start)?;
    let word = label.trim_end_matches([':', '.']);
    match is_phone_word(word) {
        true => Some((before, label)),
        false => (word.len() == label.len()).then_some((text, "")),
    }
}

/// Returns the word in brackets after a phone number, such as `Fax`, and the text after the
/// brackets. `after` is the text after the opening bracket. Returns `None` for other remarks.
fn phone_remark(after: &str) -> Option<(&str, &str)> {
    /// Maximum number of characters of the word. A cell may have many brackets, and each is looked
    /// at.
    const LONGEST: usize = 20;
    let (end, _) = after.char_indices().take(LONGEST).find(|(_, sign)| *sign == ')')?;
    let (word, after) = (after.get(..end)?, after.get(end + 1..)?);
    is_phone_word(word.trim()).then_some((word.trim(), after))
}

fn is_digit(sign: char) -> bool {
    sign.is_ascii_digit()
}

fn is_of_number(sign: char) -> bool {
    is_digit(sign) || " +-./()".contains(sign)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(name: &str, title: &str, emails: &[&str], phones: &[&str]) -> ContactCell {
        with_further(0, name, title, emails, phones)
    }

    fn with_further(
        further_people: usize,
        name: &str,
        title: &str,
        emails: &[&str],
        phones: &[&str],
    ) -> ContactCell {
        let texts = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
        ContactCell {
            name: name.to_owned(),
            title: (!title.is_empty()).then(|| title.to_owned()),
            emails: texts(emails),
            phones: texts(phones),
            further_people,
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
            ("Ada Byte - Pilot / Owner", cell("Ada Byte - Pilot", "Owner", &[], &[])),
            ("Director: Ada Byte", cell("Ada Byte", "Director", &[], &[])),
            ("Contact: Ada Byte", cell("Ada Byte", "", &[], &[])),
            ("CEO Ada Byte", cell("Ada Byte", "CEO", &[], &[])),
            ("Ada Byte Director", cell("Ada Byte", "Director", &[], &[])),
            (
                "Ada Byte - Sales Director",
                cell("Ada Byte - Sales Director", "Sales Director", &[], &[]),
            ),
            ("Ada Byte\nManaging Director", cell("Ada Byte", "Managing Director", &[], &[])),
            ("Byte, Ada (Director)", cell("Byte, Ada (Director)", "Director", &[], &[])),
            (
                "Ada Byte, Director / Owner",
                cell("Ada Byte, Director", "Director / Owner", &[], &[]),
            ),
            ("Ada Byte (ask the owner)", cell("Ada Byte (ask the owner)", "", &[], &[])),
            ("Ada Byte, Mail: ada@quill.example", cell("Ada Byte", "", &[ada], &[])),
            ("Ada Byte E-Mail: ada@quill.example.", cell("Ada Byte", "", &[ada], &[])),
            ("Ada Byte/mailto:ada@quill.example", cell("Ada Byte", "", &[ada], &[])),
            (
                "Ada Byte, 020 7946 0123 oder 020 7946 0124 (Fax)",
                cell("Ada Byte", "", &[], &["020 7946 0123", "020 7946 0124 (Fax)"]),
            ),
            ("Ada Byte 020 7946 0123 Ext. 12", cell("Ada Byte", "", &[], &["020 7946 0123"])),
            ("Ada Byte 020\u{a0}7946\u{a0}0123", cell("Ada Byte", "", &[], &["020 7946 0123"])),
            (
                "Ada Byte; ada@quill.example; 020 7946 0123",
                cell("Ada Byte", "", &[ada], &["020 7946 0123"]),
            ),
        ] {
            assert_eq!(ContactCell::read(text), expected, "{text}");
        }
    }

    #[test]
    fn of_several_people_the_first_is_read() {
        let ada = "ada@quill.example";
        for (text, expected) in [
            (
                "Ada Byte <ada@quill.example>; Bob Nib <bob@quill.example>",
                with_further(1, "Ada Byte", "", &[ada], &[]),
            ),
            (
                "Ada Byte 020 7946 0123 / Bob Nib 020 7946 0124",
                with_further(1, "Ada Byte", "", &[], &["020 7946 0123"]),
            ),
            ("Ada Byte\nBob Nib (Director)", with_further(1, "Ada Byte", "", &[], &[])),
            ("Ada & Bob Byte", with_further(1, "Ada & Bob Byte", "", &[], &[])),
            (
                "Ada Byte (ada@quill.example), Bob Nib (bob@quill.example)",
                with_further(1, "Ada Byte", "", &[ada], &[]),
            ),
            (
                "Ada Byte, Bob Nib, bob@quill.example",
                with_further(1, "Ada Byte, Bob Nib", "", &[], &[]),
            ),
            ("Ada Byte / Bob, bob@quill.example", cell("Ada Byte", "", &[], &[])),
            ("Ada Byte; Reception 020 7946 0100", cell("Ada Byte", "", &[], &[])),
            ("Ada Byte / Sales Team", cell("Ada Byte", "", &[], &[])),
            ("Ada Byte / London Office", cell("Ada Byte", "", &[], &[])),
            ("Ada Byte & Team", cell("Ada Byte & Team", "", &[], &[])),
            ("Ada / Bob Byte", cell("Bob Byte", "", &[], &[])),
        ] {
            assert_eq!(ContactCell::read(text), expected, "{text}");
        }
    }

    #[test]
    fn a_long_cell_is_read_in_little_time() {
        for text in ["020 7946 0123 (", "Ada Byte / ", "ada@quill.example ", "Ada, ", "(+"] {
            let cell = ContactCell::read(&text.repeat(30_000));
            assert!(cell.phones.len() <= 30_000, "{text}");
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
            "no longer there, ada@quill.example",
            "Sales Manager, ada@quill.example",
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
