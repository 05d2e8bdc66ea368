//! The values that Rust programs get from look-ups, and how these values are stored in an
//! idempotency record.
//!
//! A value is stored as lines. A number is one line of decimal digits. A text is a line with the
//! text's length in bytes, and then the text itself. The text is stored without escapes, so that
//! [`crate::holds_suppressed`] can find suppressed values (values that no answer may contain) in
//! it.

use enrich_text::{Country, Network};

use crate::confidence::Confidence;
use crate::subject::{
    Candidate, Company, DomainFacts, Employee, Employer, Person, Site, SubjectId,
};

/// A value that a look-up returns ([`Service::look_up`](super::Service::look_up)): a text, a
/// company, a person, facts of a domain, or a list.
///
/// Each element of a list is one item. Any other value is one item.
pub trait LookUpValue: Stored {}

impl<T: Stored + ?Sized> LookUpValue for T {}

/// Writes a value as lines into an idempotency record, and reads it from these lines. Other
/// crates cannot implement this trait.
pub trait Stored: ToOwned {
    /// Returns the number of items that are returned and charged, at most `limit`. A value with 0
    /// items is treated as not found.
    fn items(&self, _limit: usize) -> u64 {
        1
    }

    /// Appends the value, with at most `limit` items of each list.
    fn write(&self, limit: usize, lines: &mut Vec<u8>);

    /// Reads a value that [`write`](Self::write) has written; `None` if the lines have another
    /// form.
    fn read(lines: &mut Lines<'_>) -> Option<Self::Owned>;
}

/// The part of a stored value that is not read yet.
pub struct Lines<'a>(&'a [u8]);

impl<'a> Lines<'a> {
    pub(super) fn of(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn number(&mut self) -> Option<u64> {
        let end = self.0.iter().position(|&byte| byte == b'\n')?;
        let (digits, rest) = self.0.split_at(end);
        self.0 = &rest[1..];
        std::str::from_utf8(digits).ok()?.parse().ok()
    }

    /// Reads a text: a line with the text's length in bytes, and then the text itself.
    fn text(&mut self) -> Option<&'a str> {
        let length = usize::try_from(self.number()?).ok()?;
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest.strip_prefix(b"\n")?;
        std::str::from_utf8(text).ok()
    }
}

pub(super) fn write_number(number: u64, lines: &mut Vec<u8>) {
    lines.extend_from_slice(number.to_string().as_bytes());
    lines.push(b'\n');
}

/// Appends a line with the text's length in bytes, then the text and a line break.
pub(super) fn write_text(text: &str, lines: &mut Vec<u8>) {
    write_number(text.len() as u64, lines);
    lines.extend_from_slice(text.as_bytes());
    lines.push(b'\n');
}

impl Stored for str {
    fn write(&self, _: usize, lines: &mut Vec<u8>) {
        write_text(self, lines);
    }

    fn read(lines: &mut Lines<'_>) -> Option<String> {
        lines.text().map(str::to_owned)
    }
}

impl Stored for String {
    fn write(&self, _: usize, lines: &mut Vec<u8>) {
        write_text(self, lines);
    }

    fn read(lines: &mut Lines<'_>) -> Option<Self> {
        str::read(lines)
    }
}

impl<T: Stored<Owned = T> + Clone> Stored for [T] {
    fn items(&self, limit: usize) -> u64 {
        self.len().min(limit) as u64
    }

    fn write(&self, limit: usize, lines: &mut Vec<u8>) {
        write_number(self.items(limit), lines);
        for item in self.iter().take(limit) {
            item.write(limit, lines);
        }
    }

    fn read(lines: &mut Lines<'_>) -> Option<Vec<T>> {
        let length = lines.number()?;
        (0..length).map(|_| T::read(lines)).collect()
    }
}

impl<T: Stored<Owned = T> + Clone> Stored for Vec<T> {
    fn items(&self, limit: usize) -> u64 {
        self.as_slice().items(limit)
    }

    fn write(&self, limit: usize, lines: &mut Vec<u8>) {
        self.as_slice().write(limit, lines);
    }

    fn read(lines: &mut Lines<'_>) -> Option<Self> {
        <[T]>::read(lines)
    }
}

impl<T: Stored<Owned = T> + Clone> Stored for Option<T> {
    fn write(&self, limit: usize, lines: &mut Vec<u8>) {
        self.as_slice().write(limit, lines);
    }

    fn read(lines: &mut Lines<'_>) -> Option<Self> {
        let mut values = <[T]>::read(lines)?;
        let value = values.pop();
        values.is_empty().then_some(value)
    }
}

impl Stored for SubjectId {
    fn write(&self, _: usize, lines: &mut Vec<u8>) {
        write_number(self.0, lines);
    }

    fn read(lines: &mut Lines<'_>) -> Option<Self> {
        lines.number().map(Self)
    }
}

impl Stored for Confidence {
    fn write(&self, _: usize, lines: &mut Vec<u8>) {
        write_number(self.percent().into(), lines);
    }

    fn read(lines: &mut Lines<'_>) -> Option<Self> {
        Self::new(u8::try_from(lines.number()?).ok()?)
    }
}

impl Stored for Country {
    fn write(&self, _: usize, lines: &mut Vec<u8>) {
        write_text(self.alpha2(), lines);
    }

    fn read(lines: &mut Lines<'_>) -> Option<Self> {
        Self::from_code(lines.text()?).ok()
    }
}

impl Stored for (Network, String) {
    fn write(&self, limit: usize, lines: &mut Vec<u8>) {
        write_text(self.0.as_str(), lines);
        self.1.write(limit, lines);
    }

    fn read(lines: &mut Lines<'_>) -> Option<Self> {
        let name = lines.text()?;
        let network = Network::ALL.into_iter().find(|network| network.as_str() == name)?;
        Some((network, String::read(lines)?))
    }
}

/// Reads one field of a structure. The compiler infers `T` from the field.
fn read_field<T: Stored<Owned = T> + Clone>(lines: &mut Lines<'_>) -> Option<T> {
    T::read(lines)
}

/// Implements [`Stored`] for a structure: its fields are written one after the other, in the
/// given order.
macro_rules! stored_by_fields {
    ($name:ident { $($field:ident),+ $(,)? }) => {
        impl Stored for $name {
            fn write(&self, limit: usize, lines: &mut Vec<u8>) {
                $(self.$field.write(limit, lines);)+
            }

            fn read(lines: &mut Lines<'_>) -> Option<Self> {
                Some(Self { $($field: read_field(lines)?),+ })
            }
        }
    };
}

stored_by_fields!(Company {
    id,
    name,
    aliases,
    seats,
    sites,
    pages,
    emails,
    phones,
    ids,
    parent,
    employees,
});
stored_by_fields!(Candidate { id, name, country, domain, confidence, why });
stored_by_fields!(Site { domain, country });
stored_by_fields!(Employee { name, title, page });
stored_by_fields!(Person {
    id,
    first_name,
    last_name,
    title,
    employer,
    country,
    page,
    emails,
    phones,
});
stored_by_fields!(Employer { id, name, domains });
stored_by_fields!(DomainFacts { domain, ip, page_rank });

#[cfg(test)]
mod tests {
    use super::*;

    fn read_back<V: Stored + ?Sized>(value: &V, limit: usize) -> Option<V::Owned> {
        let mut bytes = Vec::new();
        value.write(limit, &mut bytes);
        let mut lines = Lines::of(&bytes);
        let read = V::read(&mut lines);
        assert!(lines.is_at_end(), "{:?}", String::from_utf8_lossy(&bytes));
        read
    }

    fn company() -> Company {
        let mut company = Company::named(SubjectId(7), "Quill\n& Sons".to_owned());
        let switzerland = Country::from_code("CH").unwrap();
        company.seats.push(switzerland);
        company.sites = ["quill.example", "quill.test"]
            .map(|domain| Site { domain: domain.to_owned(), country: Some(switzerland) })
            .to_vec();
        company.pages.push((Network::LinkedIn, "linkedin.com/company/quill".to_owned()));
        company.employees.push(Employee { name: "Ada".to_owned(), ..Employee::default() });
        company
    }

    #[test]
    fn a_value_reads_back() {
        assert_eq!(read_back("", usize::MAX).as_deref(), Some(""));
        assert_eq!(read_back(&company(), usize::MAX), Some(company()));
        let employer = Employer { id: SubjectId(7), name: "Quill".to_owned(), domains: Vec::new() };
        let person = Person {
            id: SubjectId(8),
            first_name: "Ada".to_owned(),
            last_name: "Quill".to_owned(),
            title: None,
            employer: Some(employer),
            country: None,
            page: Some("linkedin.com/in/ada-quill".to_owned()),
            emails: vec!["ada@quill.example".to_owned()],
            phones: Vec::new(),
        };
        assert_eq!(read_back(&person, usize::MAX), Some(person));
        let candidate = Candidate {
            id: SubjectId(9),
            name: "Quill".to_owned(),
            country: Country::from_code("CH").ok(),
            domain: None,
            confidence: Confidence::AMBIGUOUS,
            why: "It has exactly this name.".to_owned(),
        };
        let candidates = vec![candidate; 3];
        assert_eq!(read_back(&candidates, 2), Some(candidates[..2].to_vec()));
        let facts = DomainFacts { domain: "quill.example".to_owned(), ip: None, page_rank: None };
        assert_eq!(read_back(&facts, usize::MAX), Some(facts));
    }

    #[test]
    fn a_limit_cuts_every_list() {
        let cut = read_back(&company(), 1).unwrap();
        assert_eq!((cut.sites.len(), cut.employees.len()), (1, 1));
        assert_eq!(company().sites.items(1), 1);
    }

    #[test]
    fn what_is_no_value_is_not_read() {
        for bytes in ["", "5\nab\n", "2\nabc\n", "x\nab\n", "18446744073709551615\n"] {
            assert_eq!(str::read(&mut Lines::of(bytes.as_bytes())), None, "{bytes:?}");
            assert_eq!(Company::read(&mut Lines::of(bytes.as_bytes())), None, "{bytes:?}");
            let list = <[String]>::read(&mut Lines::of(bytes.as_bytes()));
            assert_eq!(list, None, "{bytes:?}");
        }
    }
}
