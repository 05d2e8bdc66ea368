//! Detects the format of a file, and decides how its records become native records, which are in
//! Enrich's own import format.

use std::path::{Path, PathBuf};

use clap::Args;
use enrich_core::SourceName;
use enrich_core::port::importer::{NewSubjects, SourceTerms};
use enrich_import::{ImportSource, InputFault, MapAs, ReadError, Sampled};
use enrich_import::{Sample, Source, sample};
use enrich_mapping::{
    Detection, Input, InputKind, Mapping, RecordType, Settings, SourceInfo, detect,
};

use super::super::{Console, Failure};
use super::notes::{
    note_columns, note_country, note_format, note_likely_company, note_unused, note_used,
    unknown_format,
};

/// Number of records that are read to recognise the format of a file.
const SAMPLE_RECORDS: usize = 50;
/// The name, for `--format`, of Enrich's own import format.
const NATIVE: &str = "native";

// How files become records. (A doc comment here would become the help of the command.)
#[derive(Debug, Default, Args)]
pub(super) struct FormatArgs {
    /// Format of the files: a name that --formats lists, or `native` [default: detected]
    #[arg(long, value_name = "NAME", conflicts_with_all = ["map", "columns"])]
    format: Option<String>,
    /// Mapping file, which names a field of the import format for each column or key
    #[arg(long, value_name = "FILE", conflicts_with = "columns")]
    map: Option<PathBuf>,
    /// Read a field of the import format from a column, for example domains=Website; may be
    /// repeated
    #[arg(long = "column", id = "columns", value_name = "FIELD=COLUMN", value_parser = pair)]
    columns: Vec<(String, String)>,
    /// Kind of the records, if the file does not contain it: company, person or domain
    #[arg(long = "type", value_name = "TYPE", value_parser = record_type)]
    record_type: Option<RecordType>,
    /// Country of national phone numbers, and the seat of companies without a country
    #[arg(long, value_name = "COUNTRY", value_parser = country)]
    country: Option<String>,
    /// Only add values to existing companies and people; add no new ones
    #[arg(long, conflicts_with = "add")]
    only_known: bool,
    /// Also add new companies and people from a format that by default only adds values to existing
    /// ones
    #[arg(long)]
    add: bool,
    /// Import only the first N records of each file
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
}

/// How a file is read, and to which source its records belong.
pub(super) struct Plan {
    pub(super) source: ImportSource,
    /// The name of the source, as the format defines it; `None` for native records (records in
    /// Enrich's own format).
    pub(super) name: Option<SourceName>,
    /// The licence and attribution of the source; `None` if the format gives none.
    pub(super) terms: Option<SourceTerms>,
    /// Whether the records may add companies and people, or only change stored ones.
    pub(super) subjects: NewSubjects,
}

impl FormatArgs {
    /// Decides how a file is read. If the format is detected, prints the name of the format, or
    /// the columns that are used.
    pub(super) fn plan(
        &self,
        file: &Path,
        source: Source,
        console: &mut Console<'_>,
    ) -> Result<Plan, Failure> {
        let limit = self.limit.unwrap_or(u64::MAX);
        let subjects = if self.only_known { NewSubjects::Skip } else { NewSubjects::Add };
        let native = |source| Plan {
            source: ImportSource { source, map_as: None, limit },
            name: None,
            terms: None,
            subjects,
        };
        // The first records of a pipe may arrive only after a long time, so Enrich does not wait
        // for them to detect the format. It reads a pipe as native records, unless the user has
        // chosen another format.
        let is_pipe = source.total_bytes().is_none();
        let has_choice = self.format.is_some() || self.map.is_some() || !self.columns.is_empty();
        if self.format.as_deref() == Some(NATIVE) || (is_pipe && !has_choice) {
            return Ok(native(source));
        }
        let options = Input { columns: self.header_columns(), ..Input::default() };
        let Sampled { sample, source } = sample(source, options, SAMPLE_RECORDS)
            .map_err(|error| Failure::of_file(file, &error))?;
        let (mapping, input) = match self.chosen()? {
            Some(mapping) => {
                if let Err(error) = &sample
                    && is_final(error)
                {
                    return Err(Failure::of_file(file, error));
                }
                let mut input = input_of(&mapping, sample.as_ref().ok());
                if !self.columns.is_empty() {
                    input.columns = self.header_columns();
                }
                // If each row gives two records, the operator sees which columns each of them has.
                if mapping.used_columns().len() > 1 {
                    note_used(file, &mapping, console);
                }
                if self.format.is_none() {
                    note_unused(file, &mapping, sample.as_ref().ok(), console);
                }
                (mapping, input)
            }
            None => match self.detected(file, source.file_name(), sample, console)? {
                Some(found) => found,
                None => return Ok(native(source)),
            },
        };
        let is_only_known = input.only_known.unwrap_or(mapping.merge().only_known);
        let subjects = if is_only_known && !self.add { NewSubjects::Skip } else { subjects };
        let name = SourceName::new(&mapping.source().name);
        let terms = Some(terms(mapping.source())).filter(|terms| *terms != SourceTerms::default());
        let country = self.country.clone();
        let settings = Settings { country, record_type: self.record_type };
        let map_as = Some(MapAs::new(mapping, input, settings));
        let source = ImportSource { source, map_as, limit };
        Ok(Plan { source, name, terms, subjects })
    }

    /// Returns the columns that the option `--column` names, without JSON pointers, which begin
    /// with `/`.
    fn header_columns(&self) -> Vec<String> {
        let names = self.columns.iter().map(|(_, column)| column.clone());
        names.filter(|name| !name.starts_with('/')).collect()
    }

    /// Returns the mapping (which says how a file becomes records) that the command line names;
    /// `None` if it names none.
    fn chosen(&self) -> Result<Option<Mapping>, Failure> {
        if let Some(name) = &self.format {
            let mapping = Mapping::built_in(name).cloned();
            let unknown = || {
                Failure::Impossible(format!(
                    "there is no format {name}; `enrich import --formats` lists them"
                ))
            };
            return mapping.ok_or_else(unknown).map(Some);
        }
        if let Some(path) = &self.map {
            let text = std::fs::read_to_string(path);
            let text = text.map_err(|error| Failure::of_file(path, &error))?;
            let mapping = Mapping::from_toml(&text);
            return mapping.map(Some).map_err(|error| Failure::of_file(path, &error));
        }
        if self.columns.is_empty() {
            return Ok(None);
        }
        let mapping = Mapping::from_columns(&self.columns, self.record_type);
        mapping.map(Some).map_err(|error| Failure::impossible(&error))
    }

    /// Finds the mapping that fits the beginning of a file. Returns `None` if the file is to be
    /// given to the reader of native records (records in Enrich's own format). There are two such
    /// cases:
    ///
    /// - The file contains native records, and has a form that this reader accepts.
    /// - No mapping was found, and this reader may still be able to read the file, or has a better
    ///   error message.
    fn detected(
        &self,
        file: &Path,
        file_name: &str,
        sample: Result<Sample, ReadError>,
        console: &mut Console<'_>,
    ) -> Result<Option<(Mapping, Input)>, Failure> {
        let sample = match sample {
            Ok(sample) => sample,
            Err(error) => return unread(file, file_name, &error, console),
        };
        let (form, keys) = (form(&sample), keys(&sample));
        let records: Vec<_> =
            sample.records.iter().filter_map(|record| record.fields.clone().ok()).collect();
        let seen = enrich_mapping::Sample {
            file_name: &sample.file_name,
            member: sample.member.as_deref().unwrap_or_default(),
            members: &sample.members,
            kind: form,
            keys: &keys,
            records: &records,
        };
        let is_table = matches!(sample.kind, Some(InputKind::Csv | InputKind::Workbook));
        let has_layout = matches!(sample.kind, Some(InputKind::Json | InputKind::Xml))
            || sample.member.is_some()
            || sample.rows_above > 0;
        match detect(&seen) {
            Detection::Native if has_layout && !records.is_empty() => {
                let names = sample.names.iter().map(|name| (name.clone(), name.clone()));
                let is_field = |pair: &(String, String)| {
                    Mapping::from_columns(std::slice::from_ref(pair), self.record_type).is_ok()
                };
                let fields: Vec<_> = names.filter(is_field).collect();
                let mapping = Mapping::from_columns(&fields, self.record_type);
                let mapping = mapping.map_err(|error| Failure::of_file(file, &error))?;
                Ok(Some((mapping, Input::default())))
            }
            Detection::Native => {
                if self.country.is_some() {
                    note_country(file, console);
                }
                Ok(None)
            }
            Detection::BuiltIn(mapping, input) => {
                note_format(file, mapping, console);
                Ok(Some((mapping.clone(), input.clone())))
            }
            Detection::Several(names) => Err(Failure::Impossible(format!(
                "{}: this may be {}; name one with --format",
                file.display(),
                names.join(" or ")
            ))),
            Detection::Unknown => {
                match Mapping::from_synonyms(&sample.names, &records, self.record_type) {
                    Some(synonyms) if !sample.records.is_empty() => {
                        note_columns(file, &synonyms, console);
                        if let Some(column) = synonyms.likely_company(&records) {
                            note_likely_company(file, column, console);
                        }
                        Ok(Some((synonyms.mapping, Input::default())))
                    }
                    _ if has_layout || (is_table && !sample.records.is_empty()) => {
                        Err(unknown_format(file, &sample))
                    }
                    _ => Ok(None),
                }
            }
        }
    }
}

/// Whether an error in the beginning of a file is final. If it is not, the file may still be
/// readable when its format is known: for example, a format may select one of several files in an
/// archive.
fn is_final(error: &ReadError) -> bool {
    match error {
        ReadError::Input(fault) => !matches!(
            fault,
            InputFault::SeveralFiles(_)
                | InputFault::RepeatedColumn(_)
                | InputFault::LargeRecord { .. }
        ),
        ReadError::Member { error, .. } => is_final(error),
        _ => false,
    }
}

/// Decides how to import a file whose beginning can't be read:
///
/// - If the file is an archive with several files, and its name or the names of these files show a
///   known format, returns the mapping of this format.
/// - If the reader of native records (records in Enrich's own format) may be able to read the file,
///   or has a better error message, returns `None`.
/// - Otherwise returns an error.
fn unread(
    file: &Path,
    file_name: &str,
    error: &ReadError,
    console: &mut Console<'_>,
) -> Result<Option<(Mapping, Input)>, Failure> {
    match error {
        ReadError::Input(InputFault::SeveralFiles(files)) => {
            let members = files.first();
            let seen =
                enrich_mapping::Sample { file_name, members, ..enrich_mapping::Sample::default() };
            match detect(&seen) {
                Detection::BuiltIn(mapping, input) => {
                    note_format(file, mapping, console);
                    Ok(Some((mapping.clone(), input.clone())))
                }
                _ => Err(Failure::of_file(file, error)),
            }
        }
        ReadError::Input(InputFault::LargeRecord { .. }) => Ok(None),
        ReadError::Input(_) | ReadError::Member { .. } => Err(Failure::of_file(file, error)),
        _ => Ok(None),
    }
}

/// Returns how the file is read. A mapping may describe several layouts of files, each as an
/// [`Input`]. Returns the one that fits the file. If none fits, returns the first one for files of
/// this kind.
fn input_of(mapping: &Mapping, sample: Option<&Sample>) -> Input {
    let Some(sample) = sample else {
        return mapping.inputs().first().cloned().unwrap_or_default();
    };
    let (form, keys) = (form(sample), keys(sample));
    let seen = enrich_mapping::Sample {
        file_name: &sample.file_name,
        member: sample.member.as_deref().unwrap_or_default(),
        members: &sample.members,
        kind: form,
        keys: &keys,
        records: &[],
    };
    let is_of_kind = |input: &&Input| input.kind.is_none() || input.kind == form;
    let fitting = mapping.input_for(&seen);
    let found = fitting.or_else(|| mapping.inputs().iter().find(is_of_kind));
    found.cloned().unwrap_or_default()
}

/// Returns the kind of a file. The reader sees contact cards (vCard) as a table with one column,
/// so they are recognised by the name of this column.
fn form(sample: &Sample) -> Option<InputKind> {
    let is_cards =
        sample.names.first().is_some_and(|name| name.eq_ignore_ascii_case("BEGIN:VCARD"));
    match sample.kind {
        Some(InputKind::Csv) if is_cards => Some(InputKind::Vcard),
        kind => kind,
    }
}

/// Returns the names of the records' fields. But if the records are inside an object, as in
/// `{"total": 2, "data": [...]}`, returns the names in this object: `total` and `data`.
fn keys(sample: &Sample) -> Vec<String> {
    let keys = if sample.envelope.is_empty() { &sample.names } else { &sample.envelope };
    keys.clone()
}

fn terms(source: &SourceInfo) -> SourceTerms {
    SourceTerms {
        licence: source.licence.clone(),
        attribution: source.attribution.clone(),
        homepage: source.homepage.clone(),
    }
}

fn pair(text: &str) -> Result<(String, String), String> {
    let (field, column) = text.split_once('=').ok_or("it is like domains=Website")?;
    Ok((field.trim().to_owned(), column.trim().to_owned()))
}

fn record_type(text: &str) -> Result<RecordType, String> {
    RecordType::from_name(text).ok_or_else(|| "it is company, person or domain".to_owned())
}

fn country(text: &str) -> Result<String, String> {
    match enrich_text::Country::parse(text) {
        Ok(_) => Ok(text.to_owned()),
        Err(_) => Err("it is a code such as DE, or an English name".to_owned()),
    }
}
