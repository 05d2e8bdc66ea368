//! Maps every file in a folder. For each file, prints the detected source, how many records were
//! mapped or left out, and the first native records. The example is meant for excerpts of real
//! files, which are not part of the repository.
#![allow(clippy::print_stdout, reason = "an example prints its result")]

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use enrich_import::{Delimiter, InputOptions, InputRecords, Source, sample};
use enrich_mapping::{
    Detection, Input, InputKind, Join, Mapping, Outcome, Sample, Settings, detect, name_only,
    vcards,
};
use serde_json::{Map, Value};

type Record = Map<String, Value>;

/// The number of native records that are printed for each file.
const SHOWN: usize = 2;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).ok_or("usage: open_data_check FOLDER")?;
    for path in files(Path::new(&folder))? {
        match check(&path) {
            Ok(text) => println!("{}: {text}", path.display()),
            Err(error) => println!("{}: not read: {error}", path.display()),
        }
    }
    Ok(())
}

/// Returns all files in a folder and in its subfolders, sorted by path.
fn files(folder: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let (mut open, mut found) = (vec![folder.to_path_buf()], Vec::new());
    while let Some(path) = open.pop() {
        if path.is_dir() {
            for entry in fs::read_dir(path)? {
                open.push(entry?.path());
            }
        } else {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Maps a file and returns the report on it.
fn check(path: &Path) -> Result<String, Box<dyn Error>> {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let lower = name.to_lowercase();
    if lower.ends_with(".vcf") {
        let mapping = Mapping::built_in("vcard").ok_or("no mapping of cards")?;
        let bytes = fs::read(path)?;
        return Ok(report(mapping, vcards(&bytes)));
    }
    let Some((mapping, input)) = detected(path, name)? else {
        return Ok("not detected".to_owned());
    };
    match mapping.join() {
        Some(join) => Ok(report(mapping, joined(path, join)?.into_iter())),
        None => Ok(report(mapping, records(path, options(input))?.into_iter())),
    }
}

/// Detects the source of a file by its first records. If these cannot be read, detects the source
/// by the file's name and the names of the archive's members.
fn detected(
    path: &Path,
    name: &str,
) -> Result<Option<(&'static Mapping, &'static Input)>, Box<dyn Error>> {
    let begun = sample(Source::file(path)?, InputOptions::default(), 5);
    let begun = begun.and_then(|sampled| sampled.sample);
    let detection = match &begun {
        Ok(begun) => {
            let keys: Vec<String> = begun.envelope.iter().chain(&begun.names).cloned().collect();
            let fields = begun.records.iter().filter_map(|record| record.fields.clone().ok());
            let records: Vec<Record> = fields.collect();
            detect(&Sample {
                file_name: name,
                member: begun.member.as_deref().unwrap_or_default(),
                members: &begun.members,
                kind: begun.kind.map(kind),
                keys: &keys,
                records: &records,
            })
        }
        Err(error) => {
            let members: Vec<String> = zip_members(&fs::read(path)?);
            match detect(&Sample { file_name: name, members: &members, ..Sample::default() }) {
                Detection::Unknown => return Err(error.to_string().into()),
                found => found,
            }
        }
    };
    match detection {
        Detection::BuiltIn(mapping, input) => Ok(Some((mapping, input))),
        Detection::Several(names) => Err(names.join(" or ").into()),
        Detection::Native | Detection::Unknown => Ok(None),
    }
}

/// Returns the names of the members of a zip archive, read from their local headers.
fn zip_members(bytes: &[u8]) -> Vec<String> {
    let headers = bytes.windows(4).enumerate().filter(|(_, head)| head == b"PK\x03\x04");
    let name = |at: usize| {
        let length = bytes.get(at + 26..at + 28)?;
        let length = usize::from(u16::from_le_bytes([length[0], length[1]]));
        String::from_utf8(bytes.get(at + 30..at + 30 + length)?.to_vec()).ok()
    };
    headers.filter_map(|(at, _)| name(at)).collect()
}

fn kind(kind: enrich_import::InputKind) -> InputKind {
    match kind {
        enrich_import::InputKind::Csv => InputKind::Csv,
        enrich_import::InputKind::JsonLines => InputKind::JsonLines,
        enrich_import::InputKind::Json => InputKind::Json,
        enrich_import::InputKind::Xml => InputKind::Xml,
        enrich_import::InputKind::Xlsx => InputKind::Workbook,
    }
}

/// Returns the options with which `enrich-import` reads this input.
fn options(input: &Input) -> InputOptions {
    let kind = input.kind.and_then(|kind| match kind {
        InputKind::Csv => Some(enrich_import::InputKind::Csv),
        InputKind::JsonLines => Some(enrich_import::InputKind::JsonLines),
        InputKind::Json => Some(enrich_import::InputKind::Json),
        InputKind::Xml => Some(enrich_import::InputKind::Xml),
        InputKind::Workbook => Some(enrich_import::InputKind::Xlsx),
        InputKind::Vcard => None,
    });
    InputOptions {
        kind,
        members: input.member.clone(),
        skip_members: input.skip_member.clone(),
        record_path: input.records.clone(),
        encoding: None,
        delimiter: input.delimiter.and_then(|letter| match letter {
            ',' => Some(Delimiter::Comma),
            ';' => Some(Delimiter::Semicolon),
            '\t' => Some(Delimiter::Tab),
            '|' => Some(Delimiter::Pipe),
            _ => None,
        }),
        escape: input.escape.and_then(|letter| u8::try_from(letter).ok()),
        comment: input.comment.map(String::from),
        skip_until: input.skip_until.clone(),
        columns: input.header.clone(),
        contains: input.contains.clone(),
    }
}

fn records(path: &Path, options: InputOptions) -> Result<Vec<Record>, Box<dyn Error>> {
    let mut input = InputRecords::open(Source::file(path)?, options)?;
    let mut found = Vec::new();
    while let Some(record) = input.next_record()? {
        found.extend(record.fields);
    }
    Ok(found)
}

/// Joins the rows of a source's members. Returns one record for each key in the first member.
fn joined(path: &Path, join: &Join) -> Result<Vec<Record>, Box<dyn Error>> {
    let mut gathered: Vec<Record> = Vec::new();
    let mut places = BTreeMap::new();
    for (number, member) in join.members.iter().enumerate() {
        let only = InputOptions { members: vec![member.file.clone()], ..InputOptions::default() };
        for row in records(path, only)? {
            let key = row.get(&member.key).and_then(Value::as_str).unwrap_or_default().to_owned();
            if number == 0 && !places.contains_key(&key) {
                places.insert(key.clone(), gathered.len());
                gathered.push(Record::from_iter([("@key".to_owned(), key.as_str().into())]));
            }
            let Some(record) = places.get(&key).and_then(|&at| gathered.get_mut(at)) else {
                continue;
            };
            let rows = record.entry(&member.name).or_insert_with(|| Value::Array(Vec::new()));
            if let Value::Array(rows) = rows {
                rows.push(Value::Object(row));
            }
        }
    }
    Ok(gathered)
}

/// Maps the records and returns the report on them.
fn report(mapping: &Mapping, records: impl Iterator<Item = Record>) -> String {
    let (mut read, mut mapped, mut without_key) = (0_u64, 0_u64, 0_u64);
    let (mut left_out, mut shown) = (BTreeMap::<String, u64>::new(), Vec::new());
    for record in records {
        read += 1;
        let became = mapping.map(&record, &Settings::default());
        for note in became.notes {
            *left_out.entry(note.to_string()).or_default() += 1;
        }
        match became.outcome {
            Outcome::Records(natives) => {
                for native in natives {
                    mapped += 1;
                    without_key += u64::from(name_only(&native));
                    if shown.len() < SHOWN {
                        shown.push(format!("\n  {}", Value::Object(native)));
                    }
                }
            }
            Outcome::Skipped(reason) => *left_out.entry(reason).or_default() += 1,
        }
    }
    let left_out: Vec<String> =
        left_out.into_iter().map(|(reason, count)| format!("; {count} {reason}")).collect();
    let name = &mapping.source().name;
    format!(
        "{name}: {read} read, {mapped} mapped, {without_key} name only{}{}",
        left_out.concat(),
        shown.concat()
    )
}
