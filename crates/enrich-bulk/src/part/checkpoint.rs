//! How far an output is, as it stands beside it.

use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::error::PartError;
use super::files::failed_at;
use crate::export::Added;
use crate::run::Counts;

/// What a job does, by which it is known again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Purpose {
    /// The endpoint's path.
    pub endpoint: String,
    /// Where its fields come from.
    pub mapping: crate::Mapping,
    /// Who is asked, in whatever words tell one from the other.
    pub asked: String,
    /// What the names of added columns begin with.
    #[serde(default)]
    pub prefix: String,
    /// How the list is split into columns, in words; `None` where it can't be another the next
    /// time.
    #[serde(default)]
    pub columns: Option<String>,
}

/// How far a job is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Checkpoint {
    /// Made by chance: the beginning of all its idempotency keys.
    pub(crate) job: String,
    pub(crate) purpose: Purpose,
    /// What came of the rows that are written.
    pub(crate) counts: Counts,
    /// A hash over the rows that are written, as they came in.
    pub(crate) rows_hash: String,
    /// How long the file is with them.
    pub(crate) output_bytes: u64,
    /// Rows behind those, by idempotency key, that were answered while one before them wasn't.
    pub(crate) ahead: Vec<(String, Added)>,
    /// Whether all rows are written.
    pub(crate) is_whole: bool,
}

impl Checkpoint {
    pub(crate) fn begin(purpose: Purpose) -> io::Result<Self> {
        let mut chance = [0; 16];
        getrandom::fill(&mut chance).map_err(io::Error::other)?;
        Ok(Self {
            job: chance.iter().map(|byte| format!("{byte:02x}")).collect(),
            purpose,
            counts: Counts::default(),
            rows_hash: String::new(),
            output_bytes: 0,
            ahead: Vec::new(),
            is_whole: false,
        })
    }

    pub(super) fn agree(&self, other: &Purpose, part: &Path, job: &Path) -> Result<(), PartError> {
        let what = if self.purpose.endpoint != other.endpoint {
            format!("the endpoint {}", self.purpose.endpoint)
        } else if !self.purpose.mapping.is_same(&other.mapping) {
            format!("another mapping ({})", self.purpose.mapping)
        } else if self.purpose.asked != other.asked {
            self.purpose.asked.clone()
        } else if self.purpose.prefix != other.prefix {
            match self.purpose.prefix.as_str() {
                "" => "no prefix".to_owned(),
                prefix => format!("the prefix {prefix}"),
            }
        } else if let (Some(known), Some(other)) = (&self.purpose.columns, &other.columns)
            && known != other
        {
            format!("the list read as {known}")
        } else {
            return Ok(());
        };
        Err(PartError::OtherPurpose { part: part.to_owned(), job: job.to_owned(), what })
    }
}

/// How far the job is that has this file; `None` where there is none.
pub(crate) fn read_checkpoint(job: &Path) -> Result<Option<Checkpoint>, PartError> {
    match fs::read(job) {
        Ok(bytes) => match serde_json::from_slice(&bytes) {
            Ok(checkpoint) => Ok(Some(checkpoint)),
            Err(_) => Err(PartError::Damaged(job.to_owned())),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed_at(job)(error)),
    }
}
