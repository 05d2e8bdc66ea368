//! Reads the fixtures. This reader supports only as much of CSV, JSON and archives as the tests
//! need.

use std::fs;
use std::path::{Path, PathBuf};

use enrich_mapping::{Input, InputKind, Mapped, Mapping, Sample, Settings, vcards};
use serde_json::{Map, Value};

type Record = Map<String, Value>;

/// A fixture: a file, or a folder that stands for an archive.
pub(crate) struct Fixture {
    pub(crate) path: PathBuf,
    /// The name of the built-in source that the fixture belongs to.
    pub(crate) source: String,
}

/// What is known of a file after its beginning was read.
#[derive(Default)]
pub(crate) struct Beginning {
    file_name: String,
    members: Vec<String>,
    kind: Option<InputKind>,
    keys: Vec<String>,
    records: Vec<Record>,
}

impl Beginning {
    pub(crate) fn sample(&self) -> Sample<'_> {
        Sample {
            file_name: &self.file_name,
            member: "",
            members: &self.members,
            kind: self.kind,
            keys: &self.keys,
            records: &self.records,
        }
    }
}

pub(crate) fn fixtures() -> Vec<Fixture> {
    let home = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut found = Vec::new();
    for folder in sorted(&home) {
        let source = folder.file_name().unwrap().to_str().unwrap().to_owned();
        let mut open = sorted(&folder);
        while let Some(path) = open.pop() {
            let is_archive = path.to_str().unwrap().contains("KboOpenData");
            match path.is_dir() && !is_archive {
                true => open.extend(sorted(&path)),
                false => found.push(Fixture { path, source: source.clone() }),
            }
        }
    }
    found.sort_by(|one, other| one.path.cmp(&other.path));
    found
}

fn sorted(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()).collect();
    paths.sort();
    paths
}

/// Returns the fixture with a path that ends with `name`.
pub(crate) fn fixture(name: &str) -> Fixture {
    fixtures().into_iter().find(|fixture| fixture.path.ends_with(name)).unwrap()
}

impl Fixture {
    /// Reads the beginning of the file, as far as detection needs it.
    pub(crate) fn beginning(&self) -> Beginning {
        let mut file_name = self.path.file_name().unwrap().to_str().unwrap().to_owned();
        if self.path.is_dir() {
            file_name.push_str(".zip");
            let member = |path: PathBuf| path.file_name().unwrap().to_str().unwrap().to_owned();
            let members = sorted(&self.path).into_iter().map(member).collect();
            return Beginning { file_name, members, ..Beginning::default() };
        }
        let text = fs::read_to_string(&self.path).unwrap();
        let (kind, keys, records) = match file_name.rsplit('.').next().unwrap() {
            "vcf" => (InputKind::Vcard, Vec::new(), Vec::new()),
            "csv" | "txt" => {
                let start = text.find("First Name,Last Name,URL").unwrap_or_default();
                let delimiter = if text.contains('\t') { '\t' } else { ',' };
                let rows = rows(&text[start..], delimiter, None);
                (InputKind::Csv, rows[0].clone(), Vec::new())
            }
            _ => json_beginning(&text),
        };
        Beginning { file_name, kind: Some(kind), keys, records, members: Vec::new() }
    }

    pub(crate) fn records(&self, mapping: &Mapping, input: &Input) -> Vec<Record> {
        if let Some(join) = mapping.join() {
            return joined(&self.path, join);
        }
        let text = fs::read_to_string(&self.path).unwrap();
        match input.kind.unwrap() {
            InputKind::Vcard => vcards(text.as_bytes()).collect(),
            InputKind::Csv => table(&text, input),
            InputKind::JsonLines => {
                text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
            }
            InputKind::Json => json_records(&serde_json::from_str(&text).unwrap(), input),
            _ => unreachable!(),
        }
    }

    /// Maps each record of the file with the built-in mapping of its source.
    pub(crate) fn mapped(&self, settings: &Settings) -> Vec<Mapped> {
        let mapping = Mapping::built_in(&self.source).unwrap();
        let beginning = self.beginning();
        let input = mapping.input_for(&beginning.sample()).unwrap();
        let records = self.records(mapping, input);
        records.iter().map(|record| mapping.map(record, settings)).collect()
    }
}

fn json_beginning(text: &str) -> (InputKind, Vec<String>, Vec<Record>) {
    let keys = |record: &Record| record.keys().cloned().collect();
    match serde_json::from_str(text) {
        Ok(Value::Array(values)) => {
            let first = values[0].as_object().unwrap().clone();
            (InputKind::Json, keys(&first), vec![first])
        }
        Ok(Value::Object(object)) if text.lines().count() > 1 || !is_record(&object) => {
            (InputKind::Json, keys(&object), Vec::new())
        }
        _ => {
            let first: Record = serde_json::from_str(text.lines().next().unwrap()).unwrap();
            (InputKind::JsonLines, keys(&first), vec![first])
        }
    }
}

/// Whether the only object in a file is one record, as in a JSON Lines file with one line.
/// Otherwise the object contains the records, for example in a list.
fn is_record(object: &Record) -> bool {
    ["name", "id", "properties", "slug"].iter().any(|key| object.contains_key(*key))
        && !object.contains_key("filings")
}

fn rows(text: &str, delimiter: char, escape: Option<char>) -> Vec<Vec<String>> {
    let mut reader = csv::ReaderBuilder::new();
    reader.has_headers(false).flexible(true).delimiter(u8::try_from(delimiter).unwrap());
    if let Some(escape) = escape {
        reader.escape(Some(u8::try_from(escape).unwrap())).double_quote(false);
    }
    let mut reader = reader.from_reader(text.as_bytes());
    let row = |row: csv::StringRecord| row.iter().map(str::to_owned).collect();
    reader.records().map(|it| row(it.unwrap())).collect()
}

fn table(text: &str, input: &Input) -> Vec<Record> {
    let start = input.skip_until.as_ref().map_or(0, |header| text.find(header).unwrap());
    let mut rows = rows(&text[start..], input.delimiter.unwrap_or(','), input.escape).into_iter();
    let header = match input.header.is_empty() {
        true => rows.next().unwrap(),
        false => input.header.clone(),
    };
    let record =
        |row: Vec<String>| header.iter().cloned().zip(row.into_iter().map(Value::from)).collect();
    rows.map(record).collect()
}

fn json_records(document: &Value, input: &Input) -> Vec<Record> {
    let mut found = vec![(None, document)];
    for step in input.records.as_deref().unwrap_or_default().split('/').skip(1) {
        found = found
            .into_iter()
            .flat_map(|(_, value)| match (step, value) {
                ("*", Value::Array(values)) => values.iter().map(|it| (None, it)).collect(),
                ("*", Value::Object(members)) => {
                    members.iter().map(|(key, it)| (Some(key), it)).collect::<Vec<_>>()
                }
                (key, value) => value.get(key).map(|it| (None, it)).into_iter().collect(),
            })
            .collect();
    }
    let names: Vec<String> = input.names.as_ref().map_or(Vec::new(), |names| {
        serde_json::from_value(document.pointer(names).unwrap().clone()).unwrap()
    });
    let record = |(key, value): (Option<&String>, &Value)| {
        let mut record = match value {
            Value::Object(record) => record.clone(),
            Value::Array(values) => names.iter().cloned().zip(values.iter().cloned()).collect(),
            other => Record::from_iter([("$".to_owned(), other.clone())]),
        };
        if let Some(key) = key {
            record.insert("@key".to_owned(), key.as_str().into());
        }
        record
    };
    found.into_iter().map(record).collect()
}

fn joined(folder: &Path, join: &enrich_mapping::Join) -> Vec<Record> {
    let read =
        |file: &str| table(&fs::read_to_string(folder.join(file)).unwrap(), &Input::default());
    let first = &join.members[0];
    let record = |row: Record| {
        let key = row[&first.key].clone();
        let mut record = Record::from_iter([("@key".to_owned(), key.clone())]);
        for member in &join.members {
            let rows = read(&member.file).into_iter().filter(|row| row[&member.key] == key);
            record.insert(member.name.clone(), rows.map(Value::Object).collect());
        }
        record
    };
    read(&first.file).into_iter().map(record).collect()
}
