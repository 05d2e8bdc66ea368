//! A mapping: the rules by which records of a source become native records (records in Enrich's own
//! import format).

use std::collections::BTreeMap;

use enrich_text::Country;
use serde_json::{Map, Value};

use crate::address::is_address;
use crate::condition::{self, Condition};
use crate::error::MappingError;
use crate::input::{Input, globs, matches};
use crate::join::Join;
use crate::native::{Field, RecordType};
use crate::node::{self, Node, Table, list};
use crate::outcome::{Mapped, Note, Outcome, Settings};
use crate::path::is_same_column;
use crate::person_text::{NO_FIRST_NAME, NO_LAST_NAME, NO_WHOLE_NAME, NOBODY};
use crate::record_rule::RecordRule;
use crate::source::SourceInfo;
use crate::wikidata;

/// The rules by which records of a source become native records (records in Enrich's own import
/// format).
#[derive(Clone, Debug)]
pub struct Mapping {
    text: String,
    pub(crate) source: SourceInfo,
    pub(crate) files: Vec<String>,
    pub(crate) inputs: Vec<Input>,
    pub(crate) join: Option<Join>,
    records: Vec<RecordRule>,
    skips: Vec<(Condition, String)>,
    merge: Merge,
}

/// How the records of a source are merged with the stored companies and people.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Merge {
    /// Whether records only change stored companies and people, and never add one.
    pub only_known: bool,
    /// For each field, such as `phones`: the maximum number of records that may have the same
    /// domain. If more records have it, they are probably branches of one company, and this field
    /// is removed from all of them.
    pub most_of_a_domain: BTreeMap<String, u32>,
}

const KEYS: [&str; 10] =
    ["source", "detect", "input", "join", "record", "fields", "ids", "also", "skip", "merge"];

impl Mapping {
    /// Reads a mapping file.
    ///
    /// # Errors
    ///
    /// An error whose text is one sentence. It says which line is wrong, and what is allowed there.
    pub fn from_toml(text: &str) -> Result<Self, MappingError> {
        let parsed = node::parse(text)?;
        let file = Table::whole(text, &parsed);
        file.only(&KEYS)?;
        let source = match file.get("source") {
            Some(node) => SourceInfo::read(&node.table()?)?,
            None => SourceInfo::default(),
        };
        let files = match file.get("detect") {
            Some(node) => {
                let detect = node.table()?;
                detect.only(&["files"])?;
                globs(&detect, "files")?
            }
            None => Vec::new(),
        };
        let inputs = file.get("input").map_or(Vec::new(), |node| node.list());
        let join = file.get("join").map(|node| Join::read(&node.table()?)).transpose()?;
        let mut mapping = Self {
            text: text.to_owned(),
            source,
            files,
            inputs: inputs
                .iter()
                .map(|node| Input::read(&node.table()?))
                .collect::<Result<_, _>>()?,
            join,
            records: read_records(&file)?,
            skips: read_skips(&file)?,
            merge: file.get("merge").map_or(Ok(Merge::default()), read_merge)?,
        };
        if mapping.inputs.is_empty() {
            mapping.inputs.push(Input::default());
        }
        Ok(mapping)
    }

    /// Creates a mapping from rules, without a mapping file.
    pub(crate) fn of(records: Vec<RecordRule>) -> Self {
        Self {
            text: String::new(),
            source: SourceInfo::default(),
            files: Vec::new(),
            inputs: vec![Input::default()],
            join: None,
            records,
            skips: Vec::new(),
            merge: Merge::default(),
        }
    }

    /// Returns the text of the mapping file; empty for a mapping that was not made from a file.
    pub fn source_text(&self) -> &str {
        &self.text
    }

    /// Returns the name, licence and other facts of the mapping's source.
    pub fn source(&self) -> &SourceInfo {
        &self.source
    }

    /// If the mapping was made from columns, returns the columns that are read, each with its
    /// field, for each kind of record. Returns an empty list for a mapping file.
    pub fn used_columns(&self) -> Vec<(RecordType, &[(String, String)])> {
        let rules = self.records.iter().filter(|rule| !rule.used_columns.is_empty());
        rules.map(|rule| (rule.kind, rule.used_columns.as_slice())).collect()
    }

    /// Returns the descriptions of how the source's files are read: one for each layout that the
    /// files may have. There is at least one.
    pub fn inputs(&self) -> &[Input] {
        &self.inputs
    }

    /// Returns how rows of several files are joined; `None` if each record is in one file.
    pub fn join(&self) -> Option<&Join> {
        self.join.as_ref()
    }

    /// Returns how the records are merged with the stored companies and people.
    pub fn merge(&self) -> &Merge {
        &self.merge
    }

    /// Returns the globs of the names that the source's files usually have.
    pub fn files(&self) -> &[String] {
        &self.files
    }

    /// Whether a file's name is one that the source's files usually have.
    pub fn fits_file(&self, name: &str) -> bool {
        self.files.iter().any(|glob| matches(glob, name))
    }

    /// Converts an input record to native records (records in Enrich's own import format), or
    /// returns the reason why there are none.
    pub fn map(&self, record: &Map<String, Value>, settings: &Settings) -> Mapped {
        let mut notes = Vec::new();
        let skipped =
            |reason: &str, notes| Mapped { outcome: Outcome::Skipped(reason.to_owned()), notes };
        for (condition, reason) in &self.skips {
            if condition.is_met(record) {
                return skipped(reason, notes);
            }
        }
        let given = settings.country.as_deref().and_then(|text| Country::parse(text).ok());
        let seat = self.source.country.or(given);
        let wanted = |rule: &&RecordRule| {
            settings.record_type.is_none_or(|kind| rule.kind == kind) && rule.applies_to(record)
        };
        let (mut records, mut reason) = (Vec::new(), None);
        let (mut has_person, mut unread_name) = (false, None);
        // The notes of native records that cannot be made. They are returned only if no native
        // record is made. Otherwise a note could report a value as left out that another native
        // record contains.
        let mut unused_notes = Vec::new();
        let has_company = || {
            let mut companies =
                self.records.iter().filter(wanted).filter(|rule| rule.kind == RecordType::Company);
            companies.any(|rule| rule.has_name(record, &self.source))
        };
        for rule in self.records.iter().filter(wanted) {
            let is_alone = rule.is_of_both()
                && match rule.kind {
                    RecordType::Person => !has_company(),
                    RecordType::Company | RecordType::Domain => !has_person,
                };
            let drafted = match rule.is_wikidata && wikidata::is_entity(record) {
                true => wikidata::record_draft(record, seat),
                false => Ok(rule.record_draft(record, &self.source, seat, is_alone)),
            };
            let of_draft = drafted.as_ref().map_or(Vec::new(), |draft| draft.notes.clone());
            match drafted.and_then(|draft| draft.finish(self.source.confidence)) {
                // A company with nothing but a name is left out, because the record of the person
                // already names the company as the employer.
                Ok(record) if has_person && rule.is_of_both() && has_name_alone(&record) => {}
                Ok(record) => {
                    records.push(record);
                    add_notes(&mut notes, of_draft);
                    has_person |= rule.kind == RecordType::Person;
                }
                Err(why) => {
                    unread_name = unread_name.or(note_of(why));
                    reason = reason.or(Some(why));
                    unused_notes.extend(of_draft);
                }
            }
        }
        if records.is_empty() {
            notes.extend(unused_notes);
            return skipped(reason.unwrap_or("of another kind"), notes);
        }
        notes.extend(unread_name);
        Mapped { outcome: Outcome::Records(records), notes }
    }

    /// Returns the columns (or top-level keys) that the mapping does not read, although at least
    /// one of `records` has a domain, a URL or an email address in them. Columns that the first
    /// record does not have are not considered.
    pub fn unused(&self, records: &[Map<String, Value>]) -> Vec<String> {
        let Some(first) = records.first() else { return Vec::new() };
        let mut read = Vec::new();
        self.records.iter().for_each(|rule| rule.columns_read(first, &mut read));
        let is_read = |key: &str| read.iter().any(|name| is_same_column(name, key));
        let is_unused = |key: &&String| {
            !is_read(key)
                && records.iter().filter_map(|record| record.get(*key)?.as_str()).any(is_address)
        };
        first.keys().filter(is_unused).cloned().collect()
    }
}

/// Returns the note for a person that cannot be made for this reason, although another record of
/// the same input record is made. Returns `None` if there is nothing to note, because the input
/// record names no person.
fn note_of(reason: &str) -> Option<Note> {
    match reason {
        NO_FIRST_NAME | NO_LAST_NAME | NO_WHOLE_NAME => Some(Note::IncompleteName),
        NOBODY => Some(Note::Nobody),
        _ => None,
    }
}

/// Whether a company has only a name, and perhaps a country.
fn has_name_alone(company: &Map<String, Value>) -> bool {
    company.keys().all(|key| matches!(key.as_str(), "type" | "name" | "country" | "confidence"))
}

/// Adds the notes of one native record to `notes`. `notes` contains the notes of other native
/// records from the same input record. Several of these records may read the same value, so a note
/// that another record already has is not added again.
fn add_notes(notes: &mut Vec<Note>, of_record: Vec<Note>) {
    let of_others = notes.len();
    for note in of_record {
        if !notes[..of_others].contains(&note) {
            notes.push(note);
        }
    }
}

/// Reads the rules of a mapping. The first rules make the main record of an input record. The rules
/// of each table `[[also]]` can make one more record from the same input record.
fn read_records(file: &Table<'_, '_>) -> Result<Vec<RecordRule>, MappingError> {
    const RECORD: [&str; 5] = ["type", "id", "when", "synonyms", "code"];
    let mut records = Vec::new();
    let (fields, ids) = (file.get("fields"), file.get("ids"));
    let record = file.get("record").map(|node| node.table()).transpose()?;
    if let Some(table) = &record {
        table.only(&RECORD)?;
    }
    if fields.is_none() {
        return Err(file.wrong("needs the table `[fields]`"));
    }
    records.push(RecordRule::read(record.as_ref(), fields, ids)?);
    for node in file.get("also").map_or(Vec::new(), |node| node.list()) {
        let table = node.table()?;
        table.only(&["type", "id", "when", "synonyms", "fields", "ids"])?;
        records.push(RecordRule::read(Some(&table), table.get("fields"), table.get("ids"))?);
    }
    Ok(records)
}

fn read_skips(file: &Table<'_, '_>) -> Result<Vec<(Condition, String)>, MappingError> {
    let mut keys = condition::KEYS.to_vec();
    keys.push("reason");
    let mut skips = Vec::new();
    for node in file.get("skip").map_or(Vec::new(), |node| node.list()) {
        let table = node.table()?;
        table.only(&keys)?;
        let reason = table.text("reason")?.ok_or_else(|| table.wrong("needs a `reason`"))?;
        skips.push((Condition::read(&table)?, reason));
    }
    Ok(skips)
}

fn read_merge(node: Node<'_, '_>) -> Result<Merge, MappingError> {
    let table = node.table()?;
    table.only(&["only-known", "most-of-a-domain"])?;
    let mut merge =
        Merge { only_known: table.flag("only-known")?.unwrap_or_default(), ..Merge::default() };
    if let Some(node) = table.get("most-of-a-domain") {
        for (name, node) in node.table()?.entries() {
            let is_list = matches!(
                Field::of_mapping(name),
                Some(Field::Emails | Field::Phones | Field::Aliases)
            );
            if !is_list {
                let names = list(&["aliases", "emails", "phones"]);
                return Err(node.refused(format!("`{name}` can't be limited; {names} can")));
            }
            let most = u32::try_from(node.number()?).map_err(|_| node.wrong("is a number"))?;
            merge.most_of_a_domain.insert(name.to_owned(), most);
        }
    }
    Ok(merge)
}
