//! The record of a job: its account, its order (what is looked up) and its state. It is stored in
//! the job's folder. If several processes share the job, it is stored in a database instead.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use enrich_core::{AccountId, KeyId, Timestamp};
use enrich_import::{
    Compression, Delimiter, Format, Layout, ReadAs, TextEncoding, format_from_file_name,
    uncompressed_file_name,
};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::JobError;
use crate::mapping::Mapping;
use crate::part::{PartError, private, write_atomically};
use crate::run::End;

const RECORD: &str = "job.json";

/// The id of a job: 128 random bits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobId(u128);

/// The error for a text that is not a job id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a job's id is 32 hexadecimal digits")]
pub struct MalformedId;

impl JobId {
    pub(super) fn random() -> io::Result<Self> {
        let mut chance = [0; 16];
        getrandom::fill(&mut chance).map_err(io::Error::other)?;
        Ok(Self(u128::from_be_bytes(chance)))
    }

    pub(super) fn of(number: u128) -> Self {
        Self(number)
    }

    pub(super) fn number(self) -> u128 {
        self.0
    }
}

impl FromStr for JobId {
    type Err = MalformedId;

    fn from_str(text: &str) -> Result<Self, MalformedId> {
        let is_own = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        if text.len() != 32 || !text.bytes().all(is_own) {
            return Err(MalformedId);
        }
        u128::from_str_radix(text, 16).map(Self).map_err(|_| MalformedId)
    }
}

impl fmt::Display for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Debug for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "JobId({self})")
    }
}

/// What an account has ordered for a list: the endpoint, the mapping, the API key that pays, and
/// the ceiling (the maximum cost).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// The endpoint's path.
    pub endpoint: String,
    /// The column or the constant for each field.
    pub mapping: Mapping,
    /// The id of the API key. The account of this key pays.
    #[serde(serialize_with = "as_text", deserialize_with = "of_text")]
    pub key: KeyId,
    /// The ceiling: the maximum number of credits that the list may cost; `None` for no limit.
    pub max_credits: Option<u64>,
    /// Maximum number of candidates (companies that a name may mean) of a row whose company is not
    /// found by its name; 0 for none.
    #[serde(default)]
    pub candidates: usize,
}

/// The state of a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// The list is uploaded, and the job is not started.
    New,
    /// The job is started and waits for a free thread.
    Waiting,
    /// The job is running.
    Running,
    /// The run has ended. If not all rows are written, another run can continue the job.
    Ended(End),
    /// The run failed. The text is the reason. Another run can continue the job.
    Broken(String),
}

impl State {
    /// Whether a job in this state can continue.
    pub fn can_go_on(&self) -> bool {
        match self {
            Self::Ended(end) => *end != End::Whole,
            Self::Broken(_) => true,
            Self::New | Self::Waiting | Self::Running => false,
        }
    }

    pub(super) fn in_words(&self) -> &'static str {
        match self {
            Self::New => "not started",
            Self::Waiting => "waiting",
            Self::Running => "running",
            Self::Ended(End::Whole) => "done",
            Self::Ended(_) => "stopped",
            Self::Broken(_) => "broken",
        }
    }
}

/// The record of a job: everything that is stored about the job, except its list and its output.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Record {
    #[serde(serialize_with = "as_text", deserialize_with = "of_text")]
    pub(super) id: JobId,
    #[serde(serialize_with = "as_text", deserialize_with = "of_text")]
    pub(super) account: AccountId,
    pub(super) file_name: String,
    /// The time of the upload, in seconds since the Unix epoch. `ended_at` has the same unit.
    pub(super) created_at: i64,
    pub(super) ended_at: Option<i64>,
    pub(super) order: Option<Order>,
    pub(super) state: State,
    /// The number of rows; `None` until the list is counted.
    pub(super) rows: Option<u64>,
    /// The options that the user has set for reading the list, such as its delimiter.
    #[serde(default)]
    pub(super) read_as: ReadAs,
    /// The layout of the list (its format, delimiter and encoding), as it was detected when the
    /// rows were counted.
    #[serde(default)]
    pub(super) layout: Option<Layout>,
    /// The version of the suppressed values (data that must be erased) for which the job's files
    /// were last searched. If the present version is different, the files are searched again.
    #[serde(default)]
    pub(super) scrubbed: u64,
    /// How many rows were emptied or removed because they contained suppressed values (data that
    /// must be erased).
    #[serde(default)]
    pub(super) removed_rows: u64,
    /// Whether the list was rewritten, to empty the rows with suppressed values (data that must be
    /// erased). A rewritten list is UTF-8 text.
    #[serde(default)]
    pub(super) is_rewritten: bool,
    /// Whether files of the job are being replaced by copies without suppressed values (data that
    /// must be erased). If so, all copies are already written. What remains is to rename each copy
    /// to the name of the file that it replaces.
    #[serde(default)]
    pub(super) is_replacing: bool,
    /// The job's turn: a number that grows each time a process takes the job. It is also the name
    /// of the subfolder with the job's files. `None` if no other process shares the job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) turn_folder: Option<u64>,
}

impl Record {
    pub(super) fn new(account: AccountId, file_name: &str, now: Timestamp) -> io::Result<Self> {
        const MAX_CHARACTERS: usize = 200;
        // A browser may send a whole path; only the file name is kept. Another client may send any
        // text, so control characters are removed.
        let name = file_name.rsplit(['/', '\\']).next().unwrap_or_default();
        let name: String =
            name.chars().filter(|letter| !letter.is_control()).take(MAX_CHARACTERS).collect();
        Ok(Self {
            id: JobId::random()?,
            account,
            file_name: if name.trim().is_empty() { "list".to_owned() } else { name },
            created_at: now.as_second(),
            ended_at: None,
            order: None,
            state: State::New,
            rows: None,
            read_as: ReadAs::default(),
            layout: None,
            scrubbed: 0,
            removed_rows: 0,
            is_rewritten: false,
            is_replacing: false,
            turn_folder: None,
        })
    }

    /// Reads the record of the job `id`. Returns `None` if the record cannot be read or has another
    /// id.
    pub(super) fn read(folder: &Path, id: JobId) -> Option<Self> {
        let bytes = fs::read(folder.join(id.to_string()).join(RECORD)).ok()?;
        let record = serde_json::from_slice::<Self>(&bytes).ok()?;
        Some(record).filter(|record| record.id == id)
    }

    /// Returns the size of the job's files, in bytes.
    pub(super) fn held_bytes(&self, folder: &Path) -> io::Result<u64> {
        let mut bytes = 0;
        for entry in fs::read_dir(self.folder(folder))? {
            bytes += match entry?.metadata() {
                Ok(data) => data.len(),
                // A file of a running job may have been renamed in the meantime.
                Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
                Err(error) => return Err(error),
            };
        }
        Ok(bytes)
    }

    pub(super) fn save(&self, folder: &Path) -> Result<(), PartError> {
        write_atomically(&self.folder(folder).join(RECORD), self)
    }

    pub(super) fn end(&mut self, state: State, now: Timestamp) {
        (self.state, self.ended_at) = (state, Some(now.as_second()));
    }

    /// Returns the options for reading the stored list. If rows of the list contained suppressed
    /// values (data that must be erased), the list was rewritten with these rows empty. A rewritten
    /// list is UTF-8, even if the user has set another encoding for the upload.
    pub(super) fn read_as(&self) -> ReadAs {
        if !self.is_rewritten {
            return self.read_as;
        }
        let delimiter = self.read_as.delimiter.or(Some(self.rewritten_delimiter()));
        ReadAs { delimiter, encoding: Some(TextEncoding::UTF_8) }
    }

    /// Returns the delimiter of a rewritten list (a list in which some rows were emptied). It is
    /// the detected delimiter of the upload, or a comma if none was detected.
    pub(super) fn rewritten_delimiter(&self) -> Delimiter {
        let detected = self.layout.as_ref().and_then(|layout| layout.delimiter);
        detected.unwrap_or(Delimiter::Comma)
    }

    pub(super) fn folder(&self, folder: &Path) -> PathBuf {
        let of_job = folder.join(self.id.to_string());
        match self.turn_folder {
            Some(turn) => of_job.join(turn.to_string()),
            None => of_job,
        }
    }

    /// Returns the path of the list. The extension shows the format and the compression.
    pub(super) fn list(&self, folder: &Path) -> PathBuf {
        let (format, compression) = format_from_file_name(&self.file_name);
        let mut name = "list".to_owned();
        name.push_str(match format {
            Some(Format::Csv) => ".csv",
            Some(Format::JsonLines) => ".jsonl",
            // Lists in these formats are stored without an extension. Their format is recognised
            // by the content of the file. If an extension were added here, lists that an earlier
            // version of the program has stored would not be found.
            Some(Format::Tsv | Format::Xlsx) | None => "",
        });
        name.push_str(match compression {
            Some(Compression::Gzip) => ".gz",
            Some(Compression::Bzip2) => ".bz2",
            Some(Compression::Zstd) => ".zst",
            None => "",
        });
        self.folder(folder).join(name)
    }

    /// Returns the path of the output. If the list is JSON Lines or a workbook, the output has the
    /// same format. Otherwise it is CSV with the delimiter of the list.
    pub(super) fn output(&self, folder: &Path) -> PathBuf {
        let ending = if self.ending() == ".tsv" { ".csv" } else { self.ending() };
        self.folder(folder).join(format!("output{ending}"))
    }

    /// Returns the file name that the output has in a download.
    pub(super) fn output_name(&self) -> String {
        self.output_named(self.ending())
    }

    /// Returns the file name of the list without its extensions, then `-enriched` and `ending`. For
    /// the list `leads.csv.gz` and the ending `.csv`, this is `leads-enriched.csv`.
    pub(super) fn output_named(&self, ending: &str) -> String {
        let name = uncompressed_file_name(&self.file_name);
        let endings = [".csv", ".tsv", ".tab", ".txt", ".xlsx", ".jsonl", ".ndjson"];
        let stem = endings.iter().fold(name, |name, ending| {
            let at = name.len().saturating_sub(ending.len());
            match name.split_at_checked(at) {
                Some((stem, end)) if !stem.is_empty() && end.eq_ignore_ascii_case(ending) => stem,
                _ => name,
            }
        });
        format!("{stem}-enriched{ending}")
    }

    fn ending(&self) -> &'static str {
        match format_from_file_name(&self.file_name).0 {
            Some(Format::JsonLines) => ".jsonl",
            Some(Format::Tsv) => ".tsv",
            Some(Format::Xlsx) => ".xlsx",
            Some(Format::Csv) | None => ".csv",
        }
    }
}

pub(super) fn ids(folder: &Path) -> io::Result<Vec<JobId>> {
    let mut ids = Vec::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        ids.extend(name.to_str().and_then(|name| JobId::from_str(name).ok()));
    }
    Ok(ids)
}

/// Stores the list of a new job. Calls `see` with the number of bytes received so far. If `see`
/// returns an error, the upload ends.
pub(super) fn store_list(
    folder: &Path,
    record: &Record,
    content: &mut dyn Read,
    see: &mut dyn FnMut(u64) -> Result<(), JobError>,
) -> Result<(), JobError> {
    const PIECE_BYTES: usize = 64 * 1024;
    make_folder(&record.folder(folder))?;
    let mut file = private().create_new(true).open(record.list(folder))?;
    let (mut piece, mut bytes) = (vec![0; PIECE_BYTES], 0);
    loop {
        let length = match content.read(&mut piece) {
            Ok(0) => break,
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error.into()),
        };
        bytes += length as u64;
        see(bytes)?;
        file.write_all(piece.get(..length).unwrap_or_default())?;
    }
    file.sync_all()?;
    Ok(())
}

pub(super) fn move_folder(from: &Path, to: &Path, id: JobId) -> io::Result<()> {
    let name = id.to_string();
    fs::rename(from.join(&name), to.join(&name))?;
    #[cfg(unix)]
    File::open(to)?.sync_all()?;
    Ok(())
}

/// Removes a job's folder with its contents.
pub(super) fn remove(folder: &Path, id: JobId) -> io::Result<()> {
    match fs::remove_dir_all(folder.join(id.to_string())) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Creates a folder that only its owner can access.
pub(super) fn make_folder(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)?;
    #[cfg(unix)]
    if let Some(above) = path.parent().filter(|above| !above.as_os_str().is_empty()) {
        File::open(above)?.sync_all()?;
    }
    Ok(())
}

fn as_text<S: Serializer>(value: &impl fmt::Display, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

fn of_text<'de, T: FromStr, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    let text = String::deserialize(deserializer)?;
    text.parse().map_err(|_| serde::de::Error::custom("no id"))
}
