//! A job on disk.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use enrich_core::{AccountId, KeyId, Timestamp};
use enrich_import::{Compression, Format, told_by_name};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::JobError;
use crate::mapping::Mapping;
use crate::part::{PartError, write_atomically};
use crate::run::End;

const RECORD: &str = "job.json";

/// A job's id: 128 bits of chance, which nobody guesses.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobId(u128);

/// The text is no job's id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a job's id is 32 hexadecimal digits")]
pub struct MalformedId;

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

/// What is to be done with a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// The endpoint's path.
    pub endpoint: String,
    /// Which columns go into its fields.
    pub mapping: Mapping,
    /// The key that asks.
    #[serde(serialize_with = "as_text", deserialize_with = "of_text")]
    pub key: KeyId,
    /// The most it may cost; `None` for as much as it does.
    pub max_credits: Option<u64>,
}

/// Where a job stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Uploaded.
    New,
    /// Started; others run.
    Waiting,
    /// It runs.
    Running,
    /// It ended. Unless the output is whole, it may go on.
    Ended(End),
    /// It couldn't be carried on, and why. It may go on.
    Broken(String),
}

impl State {
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

/// What is kept of a job.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Record {
    #[serde(serialize_with = "as_text", deserialize_with = "of_text")]
    pub(super) id: JobId,
    #[serde(serialize_with = "as_text", deserialize_with = "of_text")]
    pub(super) account: AccountId,
    pub(super) file_name: String,
    /// Seconds since the Unix epoch, as the next.
    pub(super) created_at: i64,
    pub(super) ended_at: Option<i64>,
    pub(super) order: Option<Order>,
    pub(super) state: State,
    /// The rows of the list, once it was started.
    pub(super) rows: Option<u64>,
}

impl Record {
    pub(super) fn new(account: AccountId, file_name: &str, now: Timestamp) -> io::Result<Self> {
        const MAX_CHARACTERS: usize = 200;
        let mut chance = [0; 16];
        getrandom::fill(&mut chance).map_err(io::Error::other)?;
        // A browser may send a path, and anybody anything.
        let name = file_name.rsplit(['/', '\\']).next().unwrap_or_default();
        let name: String =
            name.chars().filter(|letter| !letter.is_control()).take(MAX_CHARACTERS).collect();
        Ok(Self {
            id: JobId(u128::from_be_bytes(chance)),
            account,
            file_name: if name.trim().is_empty() { "list".to_owned() } else { name },
            created_at: now.as_second(),
            ended_at: None,
            order: None,
            state: State::New,
            rows: None,
        })
    }

    pub(super) fn save(&self, folder: &Path) -> Result<(), PartError> {
        write_atomically(&self.folder(folder).join(RECORD), self)
    }

    pub(super) fn end(&mut self, state: State, now: Timestamp) {
        (self.state, self.ended_at) = (state, Some(now.as_second()));
    }

    fn folder(&self, folder: &Path) -> PathBuf {
        folder.join(self.id.to_string())
    }

    /// The file of the list, named so that its format and compression are told by the name.
    pub(super) fn list(&self, folder: &Path) -> PathBuf {
        let (format, compression) = told_by_name(&self.file_name);
        let mut name = "list".to_owned();
        name.push_str(match format {
            Some(Format::Csv) => ".csv",
            Some(Format::JsonLines) => ".jsonl",
            None => "",
        });
        name.push_str(match compression {
            Some(Compression::Gzip) => ".gz",
            Some(Compression::Zstd) => ".zst",
            None => "",
        });
        self.folder(folder).join(name)
    }

    /// The file of the rows with their answers: JSON Lines where the list is, else CSV.
    pub(super) fn output(&self, folder: &Path) -> PathBuf {
        self.folder(folder).join(format!("output{}", self.ending()))
    }

    /// What the output is called where somebody takes it away.
    pub(super) fn output_name(&self) -> String {
        let name = self.file_name.as_str();
        let endings = [".gz", ".zst", ".csv", ".jsonl", ".ndjson"];
        let stem = endings.iter().fold(name, |name, ending| {
            let at = name.len().saturating_sub(ending.len());
            match name.split_at_checked(at) {
                Some((stem, end)) if !stem.is_empty() && end.eq_ignore_ascii_case(ending) => stem,
                _ => name,
            }
        });
        format!("{stem}-enriched{}", self.ending())
    }

    fn ending(&self) -> &'static str {
        match told_by_name(&self.file_name).0 {
            Some(Format::JsonLines) => ".jsonl",
            Some(Format::Csv) | None => ".csv",
        }
    }
}

/// Every job in the folder.
pub(super) fn read_all(folder: &Path) -> Result<Vec<Record>, JobError> {
    let mut records = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let Some(Ok(id)) = name.to_str().map(JobId::from_str) else { continue };
        let path = entry.path().join(RECORD);
        let record = match fs::read(&path) {
            Ok(bytes) => serde_json::from_slice::<Record>(&bytes).ok(),
            // The process ended while the list was uploaded: nobody was told of this job.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                remove(folder, id)?;
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        let record = record.filter(|record| record.id == id);
        records.push(record.ok_or(PartError::Damaged(path))?);
    }
    Ok(records)
}

/// Stores the list of a new job.
pub(super) fn store_list(
    folder: &Path,
    record: &Record,
    content: &mut dyn Read,
    max_bytes: u64,
) -> Result<(), JobError> {
    make_folder(&record.folder(folder))?;
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(record.list(folder))?;
    let copied = io::copy(&mut content.take(max_bytes.saturating_add(1)), &mut file)?;
    if copied > max_bytes {
        return Err(JobError::TooLarge(max_bytes));
    }
    file.flush()?;
    file.sync_all()?;
    Ok(())
}

/// Removes a job's folder and all in it.
pub(super) fn remove(folder: &Path, id: JobId) -> io::Result<()> {
    match fs::remove_dir_all(folder.join(id.to_string())) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Makes a folder that its owner alone may look into.
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
