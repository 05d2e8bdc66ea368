//! Counts the results of an import.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::AddAssign;

use enrich_mapping::{Note, is_address};

use crate::layout::Layout;
use crate::rejection::{BadValue, Rejection};
use crate::skip_reason::SkipReason;

/// Maximum number of rejected lines that a report names.
const MAX_NAMED_REJECTIONS: usize = 10;
/// Maximum number of ignored fields that a report names. Also the maximum number of unused columns
/// that are examined for domains, URLs and email addresses.
const MAX_IGNORED_FIELDS: usize = 32;
/// Maximum length of the name of an ignored field that a report names, in bytes.
const MAX_FIELD_NAME: usize = 40;
/// Maximum number of values of an unused column that are examined in each batch. The values show
/// whether the column contains domains, URLs or email addresses.
const MAX_SEEN_VALUES: u32 = 200;

/// The results of an import. The number `read` is the sum of `added`, `merged`, `unchanged`,
/// `rejected` and `not_held`. Exception: if an import in one transaction was stopped, `added`,
/// `merged` and `unchanged` are 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The number of records that were read. In JSON Lines, each line that is not blank is one; in
    /// CSV, each row below the header. With a mapping, these are the records that the mapping made,
    /// and the input records that can't be read.
    pub read: u64,
    /// The number of records that became new subjects (companies, people or domains).
    pub added: u64,
    /// The number of records that changed an existing subject (a company, a person or a domain).
    pub merged: u64,
    /// The number of records that changed nothing.
    pub unchanged: u64,
    /// The number of records that were not imported, because they can't be read or used, or because
    /// their data is suppressed (must stay forgotten).
    pub rejected: u64,
    /// The number of records that were not imported, because their subject (a company or a person)
    /// is not in the directory, and this import may not add new subjects.
    pub not_held: u64,
    /// The number of imported records that identify a company or a person only by a name. They have
    /// no domain, page on a social network, email address, phone number or external id. Records of
    /// people also have no employer. Few look-ups find these companies and people.
    pub name_only: u64,
    /// The number of values that were left out of imported records, because they could not be read
    /// or used, or because they are suppressed (must stay forgotten). `left_out` counts the values
    /// that a mapping left out; they are not part of this number.
    pub dropped: u64,
    /// The values that were dropped because they could not be read or used, counted by field and
    /// reason.
    pub dropped_values: Vec<DroppedValues>,
    /// The number of values that were left out because they are suppressed (must stay forgotten).
    pub suppressed_values: u64,
    /// The first ten rejected lines, each with line number and reason.
    pub first_rejected: Vec<(u64, Rejection)>,
    /// The names of fields that were ignored, because Enrich's import format does not have them for
    /// records of this kind. Some of them may be mistyped. At most 32 names are stored.
    pub ignored_fields: BTreeSet<String>,
    /// The number of input records from which the mapping made no record, by reason. They are not
    /// part of `read`.
    pub skipped: BTreeMap<SkipReason, Occurrences>,
    /// The number of values of input records that were left out when the records were mapped, by
    /// kind. They are not part of `dropped`, which counts the values that were left out later.
    pub left_out: BTreeMap<LeftOutKind, Occurrences>,
    /// The layout of the source, or of the first of several sources that is not empty; `None` if
    /// all are empty.
    pub layout: Option<Layout>,
    unused: BTreeMap<String, ColumnSample>,
}

/// Two counts for an unused column, which no field is read from: how many of its values were
/// examined, and how many of these can identify a company or a person.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct ColumnSample {
    values: u32,
    /// The number of examined values that could identify a company or a person: domains, URLs or
    /// email addresses.
    keys: u32,
}

/// The values of one field that were dropped for one reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DroppedValues {
    /// The name of the field.
    pub field: &'static str,
    /// Why the values were dropped.
    pub reason: BadValue,
    /// The number of dropped values.
    pub count: u64,
    /// The number of the line with the first dropped value.
    pub first_line: u64,
}

/// A kind of values of input records that were left out when the records were mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LeftOutKind {
    /// Values that the mapping did not copy.
    ByMapping(Note),
    /// Values such as phone numbers that were removed, because too many records of the source have
    /// the same domain.
    OfSharedDomain,
}

impl LeftOutKind {
    /// Returns the text by which reports name this kind of values, in the plural.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ByMapping(note) => note.as_str(),
            Self::OfSharedDomain => "values of domains that too many records share",
        }
    }
}

/// How often something happened to the records of a source, such as that a record was skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occurrences {
    /// The number of times.
    pub count: u64,
    /// The number of the line where it happened first.
    pub first_line: u64,
}

impl Report {
    /// Whether any record of this import was added, merged or unchanged.
    pub fn took_anything(&self) -> bool {
        self.added + self.merged + self.unchanged > 0
    }

    /// Returns the names of the unused columns (no field is read from them) in which at least half
    /// of the examined values are domains, URLs or email addresses. At most 200 values of a column
    /// were examined in each batch.
    pub fn unused_keys(&self) -> Vec<&str> {
        let is_key = |seen: &ColumnSample| seen.keys > 0 && 2 * seen.keys >= seen.values;
        let keys = self.unused.iter().filter(|(_, seen)| is_key(seen));
        keys.map(|(name, _)| name.as_str()).collect()
    }

    pub(crate) fn reject(&mut self, line: u64, reason: Rejection) {
        self.rejected += 1;
        if self.first_rejected.len() < MAX_NAMED_REJECTIONS {
            self.first_rejected.push((line, reason));
        }
    }

    /// Adds the notes from parsing a batch: dropped values, ignored fields, skipped records, values
    /// that the mapping left out, samples of unused columns, and the layout.
    pub(crate) fn note(&mut self, notes: Notes) {
        for values in notes.dropped {
            self.dropped += values.count;
            count(&mut self.dropped_values, values);
        }
        for name in notes.ignored {
            add_name(&mut self.ignored_fields, name);
        }
        add_occurrences(&mut self.skipped, notes.skipped);
        add_occurrences(&mut self.left_out, notes.left_out);
        add_samples(&mut self.unused, notes.unused);
        // The layout includes the encoding, which is detected from the text that was read so far.
        // With each batch, more text has been read. So the layout of a later batch replaces the
        // earlier layout.
        self.layout = notes.layout.or(self.layout.take());
    }

    /// Returns this report for an import whose transaction was rolled back: the numbers of added,
    /// merged, unchanged and name-only records become 0.
    pub(crate) fn undone(self) -> Self {
        Self { added: 0, merged: 0, unchanged: 0, name_only: 0, ..self }
    }
}

/// Adds the report of another source to this report. Line numbers are not changed: line 3 of the
/// second source is still line 3.
impl AddAssign for Report {
    fn add_assign(&mut self, other: Self) {
        // All fields are named, without `..`. So the compiler reports a new field that is not added
        // here.
        let Self {
            read,
            added,
            merged,
            unchanged,
            rejected,
            not_held,
            name_only,
            dropped,
            dropped_values,
            suppressed_values,
            first_rejected,
            ignored_fields,
            skipped,
            left_out,
            layout,
            unused,
        } = other;
        self.read += read;
        self.added += added;
        self.merged += merged;
        self.unchanged += unchanged;
        self.rejected += rejected;
        self.not_held += not_held;
        self.name_only += name_only;
        self.dropped += dropped;
        self.suppressed_values += suppressed_values;
        for values in dropped_values {
            count(&mut self.dropped_values, values);
        }
        let room = MAX_NAMED_REJECTIONS.saturating_sub(self.first_rejected.len());
        self.first_rejected.extend(first_rejected.into_iter().take(room));
        for name in ignored_fields {
            add_name(&mut self.ignored_fields, name);
        }
        add_occurrences(&mut self.skipped, skipped);
        add_occurrences(&mut self.left_out, left_out);
        add_samples(&mut self.unused, unused);
        self.layout = self.layout.take().or(layout);
    }
}

/// The notes about the records of a batch, which are made while the records are parsed.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    dropped: Vec<DroppedValues>,
    ignored: BTreeSet<String>,
    unused: BTreeMap<String, ColumnSample>,
    skipped: BTreeMap<SkipReason, Occurrences>,
    left_out: BTreeMap<LeftOutKind, Occurrences>,
    layout: Option<Layout>,
}

impl Notes {
    /// Counts an input record in this line, which is skipped for this reason.
    pub(crate) fn skip(&mut self, reason: SkipReason, line: u64) {
        add_occurrences(&mut self.skipped, [(reason, Occurrences { count: 1, first_line: line })]);
    }

    /// Counts a value of this kind in this line, which is left out.
    pub(crate) fn leave_out(&mut self, kind: LeftOutKind, line: u64) {
        add_occurrences(&mut self.left_out, [(kind, Occurrences { count: 1, first_line: line })]);
    }
}

impl Notes {
    pub(crate) fn drop_value(&mut self, field: &'static str, reason: BadValue, line: u64) {
        count(&mut self.dropped, DroppedValues { field, reason, count: 1, first_line: line });
    }

    /// Adds `name` to the names of ignored fields: the fields that Enrich's import format does not
    /// have for records of this kind.
    pub(crate) fn ignore_field(&mut self, name: &str) {
        if looks_like_a_name(name) && !self.ignored.contains(name) {
            add_name(&mut self.ignored, name.to_owned());
        }
    }
}

impl Notes {
    pub(crate) fn set_layout(&mut self, layout: Option<Layout>) {
        self.layout = layout;
    }

    pub(crate) fn note_unused(&mut self, name: &str, value: &str) {
        let value = value.trim();
        if value.is_empty() || !looks_like_a_name(name) {
            return;
        }
        if !self.unused.contains_key(name) && self.unused.len() < MAX_IGNORED_FIELDS {
            self.unused.insert(name.to_owned(), ColumnSample::default());
        }
        let Some(seen) = self.unused.get_mut(name) else { return };
        if seen.values < MAX_SEEN_VALUES {
            seen.values += 1;
            seen.keys += u32::from(is_address(value));
        }
    }
}

/// Whether a text looks like the name of a field. Any other text may be personal data, which must
/// not appear in a report.
fn looks_like_a_name(name: &str) -> bool {
    name.len() <= MAX_FIELD_NAME
        && name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b' '))
}

fn add_occurrences<K: Ord>(
    all: &mut BTreeMap<K, Occurrences>,
    more: impl IntoIterator<Item = (K, Occurrences)>,
) {
    for (what, more) in more {
        all.entry(what).and_modify(|known| known.count += more.count).or_insert(more);
    }
}

fn add_samples(all: &mut BTreeMap<String, ColumnSample>, more: BTreeMap<String, ColumnSample>) {
    for (name, seen) in more {
        if all.len() < MAX_IGNORED_FIELDS || all.contains_key(&name) {
            let known = all.entry(name).or_default();
            known.values += seen.values;
            known.keys += seen.keys;
        }
    }
}

/// Adds `values` to the entry with the same field and reason. There are few entries, so a linear
/// search is enough.
fn count(counts: &mut Vec<DroppedValues>, values: DroppedValues) {
    let same =
        |known: &&mut DroppedValues| known.field == values.field && known.reason == values.reason;
    match counts.iter_mut().find(same) {
        Some(known) => known.count += values.count,
        None => counts.push(values),
    }
}

fn add_name(names: &mut BTreeSet<String>, name: String) {
    if names.len() < MAX_IGNORED_FIELDS {
        names.insert(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Format;

    #[test]
    fn dropped_values_are_counted_by_field_and_reason() {
        let mut report = Report::default();
        for (field, reason, line) in [
            ("ip", BadValue::NotAnIpAddress, 3),
            ("ip", BadValue::NotAnIpAddress, 5),
            ("ip", BadValue::NotText, 6),
        ] {
            let mut notes = Notes::default();
            notes.drop_value(field, reason, line);
            report.note(notes);
        }
        assert_eq!(report.dropped, 3);
        let counts: Vec<_> =
            report.dropped_values.iter().map(|values| (values.count, values.first_line)).collect();
        assert_eq!(counts, [(2, 3), (1, 6)]);
    }

    #[test]
    fn an_ignored_field_is_named_unless_its_name_may_be_data() {
        let mut notes = Notes::default();
        for name in ["domian", "ada@quill.example", "+442079460123", "", "442079460123"] {
            notes.ignore_field(name);
        }
        assert_eq!(notes.ignored.into_iter().collect::<Vec<_>>(), ["domian"]);
    }

    #[test]
    fn a_column_of_domains_or_addresses_that_is_not_used_is_named() {
        let mut notes = Notes::default();
        for (name, value) in [
            ("Website", "https://www.quill.example/about?x=1.5"),
            ("Website", "n/a"),
            ("Contact", "ada@quill.example"),
            ("Price", "1.50"),
            ("Owner", "J.R. Quill"),
            ("Note", "quill.example"),
            ("Note", "Quill Ltd"),
            ("Note", "-"),
            ("ada@quill.example", "quill.example"),
        ] {
            notes.note_unused(name, value);
        }
        let mut report = Report::default();
        report.note(notes);
        assert_eq!(report.unused_keys(), ["Contact", "Website"]);
    }

    #[test]
    fn a_report_stays_small_however_much_is_wrong() {
        let mut report = Report::default();
        let mut notes = Notes::default();
        for number in 0..1000 {
            report.reject(number, Rejection::NoType);
            notes.ignore_field(&format!("field {number}"));
        }
        report.note(notes);
        assert_eq!(report.rejected, 1000);
        assert_eq!(report.first_rejected.len(), MAX_NAMED_REJECTIONS);
        assert_eq!(report.ignored_fields.len(), MAX_IGNORED_FIELDS);
    }

    #[test]
    fn reports_add_up() {
        let one = Report { read: 3, added: 1, rejected: 2, ..Report::default() };
        let mut sum = Report { read: 1, unchanged: 1, ..Report::default() };
        sum += one;
        assert_eq!((sum.read, sum.added, sum.unchanged, sum.rejected), (4, 1, 1, 2));
        assert!(sum.took_anything());
        assert!(!sum.undone().took_anything());
    }

    #[test]
    fn the_sum_of_reports_has_the_layout_of_the_first_source_that_is_not_empty() {
        let layout = |format| {
            let (delimiter, encoding, sheet) = (None, None, None);
            Some(Layout { format, delimiter, encoding, sheet, sheets: 0 })
        };
        let mut sum = Report::default();
        for format in [None, Some(Format::Csv), Some(Format::JsonLines)] {
            sum += Report { layout: format.and_then(layout), not_held: 2, ..Report::default() };
        }
        assert_eq!(sum.layout, layout(Format::Csv));
        assert_eq!(sum.not_held, 6);
    }
}
