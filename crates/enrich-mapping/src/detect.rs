//! Detects which source a file is from.

use serde_json::{Map, Value};

use crate::built_in::built_ins;
use crate::input::{Input, InputKind};
use crate::mapping::Mapping;
use crate::meaning::Meaning;
use crate::native::{Field, RecordType};
use crate::path::Path;
use crate::phone_text::names_country;
use crate::synonyms::Synonyms;

/// What a reader knows about a file after it has read the beginning. The source of the file is
/// detected from this.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sample<'a> {
    /// The file's name, without its folder; for a member of an archive, the archive's name.
    pub file_name: &'a str,
    /// The name of the archive's member that `keys` were read from; empty if the file is not an
    /// archive.
    pub member: &'a str,
    /// The names of all members of an archive; empty if the file is not an archive.
    pub members: &'a [String],
    /// The format of the file, such as CSV; `None` if it is not known.
    pub kind: Option<InputKind>,
    /// The names of the columns, or the first row if there is no header. For one JSON object: its
    /// top-level keys. For a list or lines of JSON objects: the keys of the first object.
    pub keys: &'a [String],
    /// The first records; empty if the reader could not read records yet.
    pub records: &'a [Map<String, Value>],
}

/// The result of detecting the source of a file.
#[derive(Clone, Debug)]
pub enum Detection {
    /// The file contains native records, which are in Enrich's own import format.
    Native,
    /// The file is from the built-in source with this mapping. The second value describes how the
    /// file is read.
    BuiltIn(&'static Mapping, &'static Input),
    /// The file may be from several built-in sources. The value contains their names.
    Several(Vec<&'static str>),
    /// The source is not known.
    Unknown,
}

/// Detects which source a file is from. The first of these rules that applies decides:
///
/// 1. If the `type` of the first record is `company`, `person` or `domain`, the file is native (in
///    Enrich's own import format). It is also native if all its columns or keys are native fields.
/// 2. A built-in source fits if the file has the columns or keys that the source requires. If one
///    source fits, the file is from this source. If several fit, and the file's name is typical of
///    some of them, only these remain. If more than one remains, the result is
///    [`Detection::Several`].
/// 3. If the file has the native columns that a record needs, and no other column with a known
///    meaning, the file is native.
pub fn detect(sample: &Sample<'_>) -> Detection {
    if says_native_type(sample) || is_all_native(sample) {
        return Detection::Native;
    }
    let fits = |mapping: &'static Mapping| Some((mapping, mapping.input_for(sample)?));
    let mut found: Vec<_> = built_ins().iter().filter_map(fits).collect();
    let is_named = |(mapping, _): &(&'static Mapping, &'static Input)| mapping.is_named(sample);
    if found.len() > 1 && found.iter().any(is_named) {
        found.retain(is_named);
    }
    match found.as_slice() {
        [] if is_native_enough(sample) => Detection::Native,
        [] => Detection::Unknown,
        [(mapping, input)] => Detection::BuiltIn(mapping, input),
        several => Detection::Several(
            several.iter().map(|(mapping, _)| mapping.source().name.as_str()).collect(),
        ),
    }
}

impl Mapping {
    /// Returns the first of the [`inputs`](Self::inputs) that describes the layout of a file;
    /// `None` if none fits.
    ///
    /// If none fits, but the operator has named the source, the caller may use the first input that
    /// has the same kind as the file, such as CSV.
    pub fn input_for(&self, sample: &Sample<'_>) -> Option<&Input> {
        if let Some(join) = self.join() {
            let is_there = |file: &str| {
                sample.members.iter().any(|name| name.rsplit('/').next() == Some(file))
            };
            let all = join.members.iter().all(|member| is_there(&member.file));
            return self.inputs().first().filter(|_| all);
        }
        self.inputs().iter().find(|input| fits(input, sample, self.is_named(sample)))
    }

    fn is_named(&self, sample: &Sample<'_>) -> bool {
        self.fits_file(sample.file_name)
            || (!sample.member.is_empty() && self.fits_file(sample.member))
            // An archive with several files may have any name. It is enough that one of its files
            // has a name that is typical of the source.
            || (sample.members.len() > 1 && sample.members.iter().any(|one| self.fits_file(one)))
    }
}

/// Whether a file has the layout that `input` describes. `is_named` says whether the file's name is
/// typical of the source.
fn fits(input: &Input, sample: &Sample<'_>, is_named: bool) -> bool {
    let is_kind = match (input.kind, sample.kind) {
        (Some(InputKind::Csv), Some(InputKind::Workbook)) => true,
        (Some(wanted), Some(kind)) => wanted == kind,
        (None, _) | (_, None) => true,
    };
    // If `input.member` has no globs (patterns of file names), only one member of an archive is
    // read. So if the archive has several members, the sample must name the member that was read.
    let is_there = match input.member.as_slice() {
        [] => sample.members.len() <= 1 || !sample.member.is_empty(),
        _ => {
            sample.members.is_empty()
                || sample.members.iter().any(|member| input.takes_member(member))
        }
    };
    if !is_kind || !is_there {
        return false;
    }
    if !input.header.is_empty() {
        return is_named && sample.keys.len() == input.header.len();
    }
    // The file fits if it has all required keys (names of columns or JSON keys). In three cases,
    // the keys cannot show this, and the file fits if its name is typical of the source:
    //
    // - The input requires no keys.
    // - The sample has no keys.
    // - Required keys are missing, but they may be in a later line of the file, because the header
    //   need not be the first line (`skip_until`).
    let has_keys = input.keys.iter().all(|key| has_key(sample, key));
    if input.keys.is_empty() || sample.keys.is_empty() || (input.skip_until.is_some() && !has_keys)
    {
        return is_named;
    }
    has_keys
}

fn has_key(sample: &Sample<'_>, key: &str) -> bool {
    let is_same = |known: &String| known.trim().eq_ignore_ascii_case(key.trim());
    sample.keys.iter().any(is_same)
        || sample.records.iter().any(|record| Path::column(key).is_in(record))
}

/// Whether the `type` of the first record is `company`, `person` or `domain`, as in Enrich's own
/// import format.
fn says_native_type(sample: &Sample<'_>) -> bool {
    let is_native = |record: &Map<String, Value>| {
        let kind = record.get("type").and_then(Value::as_str);
        kind.is_some_and(|kind| RecordType::from_name(kind).is_some())
    };
    sample.records.first().is_some_and(is_native)
}

fn is_all_native(sample: &Sample<'_>) -> bool {
    !sample.keys.is_empty() && sample.keys.iter().all(|key| is_native(key)) && has_subject(sample)
}

/// Whether a file is native (in Enrich's own import format), although it has further columns. It
/// must have the native columns that a record needs. None of the further columns may have a usual
/// name, such as `Website`, because such a column would not be read from a native file.
fn is_native_enough(sample: &Sample<'_>) -> bool {
    if !has_subject(sample) {
        return false;
    }
    let others: Vec<String> = sample.keys.iter().filter(|key| !is_native(key)).cloned().collect();
    // A column of area codes is allowed if all phone numbers are international: then nobody needs
    // the area codes.
    let is_needless = |meaning| meaning == Meaning::AreaCode && !has_national_phones(sample);
    Synonyms::known(&others, &[]).iter().all(|(_, meaning)| is_needless(meaning))
}

/// Whether the sample has a national phone number in a column `phones`. A number without `+` or
/// `00` at its beginning is national.
fn has_national_phones(sample: &Sample<'_>) -> bool {
    let is_phones =
        |key: &str| Field::from_column(key).is_some_and(|named| named.field == Field::Phones);
    let mut numbers = sample
        .records
        .iter()
        .flatten()
        .filter(|(key, _)| is_phones(key))
        .filter_map(|(_, value)| value.as_str().map(str::trim));
    numbers.any(|number| !number.is_empty() && !names_country(number))
}

fn has_subject(sample: &Sample<'_>) -> bool {
    ["first_name", "name", "domain", "domains"]
        .iter()
        .any(|key| sample.keys.iter().any(|known| known.trim().eq_ignore_ascii_case(key)))
}

/// Whether Enrich's own import format has a field with the name of this column or key. A key inside
/// such a field, such as `ids.lei`, also counts.
fn is_native(name: &str) -> bool {
    Field::from_column(name.split('.').next().unwrap_or(name)).is_some()
}
