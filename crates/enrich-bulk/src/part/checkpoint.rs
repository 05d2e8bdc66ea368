//! The checkpoint of an output: how much of the output is complete. It is a file next to the
//! output.

use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::error::PartError;
use super::files::failed_at;
use crate::export::Added;
use crate::run::Counts;

/// The properties of a job that must not change, so that a later run can continue the job: the
/// endpoint, the mapping, the caller (the data folder or the server that answers the rows), the
/// prefix of the added columns, the number of candidates, and how the list is split into columns.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Purpose {
    /// The endpoint's path.
    pub endpoint: String,
    /// The source of each field of the endpoint.
    pub mapping: crate::Mapping,
    /// A description of the data folder or the server that answers the rows, such as
    /// `a data folder` or `the server https://enrich.example`. A later run continues the output
    /// only if its caller has the same description.
    #[serde(rename = "asked")]
    pub caller: String,
    /// Prefix of the added columns' names.
    #[serde(default)]
    pub prefix: String,
    /// If a row's company is not found by its name, candidates (companies that the name may mean)
    /// are added to the row. This is the maximum number of candidates of a row; 0 if no candidates
    /// are added.
    #[serde(default)]
    pub candidates: usize,
    /// A description of how the list is split into columns; `None` if its format has no delimiter.
    #[serde(default)]
    pub columns: Option<String>,
}

/// The progress of a job, as the file `OUT.job` next to the output stores it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Checkpoint {
    /// A text that all idempotency keys of the job contain. If several processes share the job, it
    /// is the job's id, so that all of them use the same keys. Otherwise, it is random.
    pub(crate) job: String,
    pub(crate) purpose: Purpose,
    /// The number of rows of each status that are written to the output, and their cost.
    pub(crate) counts: Counts,
    /// The hash of the input text of all rows that are written to the output. A later run uses it
    /// to check that these rows of the list are unchanged.
    pub(crate) rows_hash: String,
    /// The size of the written rows in the output file, in bytes.
    pub(crate) output_bytes: u64,
    /// The rows that were answered, but are not written to the output yet, because an earlier row
    /// has no answer yet. Each element is the row's idempotency key and its result.
    pub(crate) ahead: Vec<(String, Added)>,
    /// Whether all rows of the list are written.
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

    /// Returns the checkpoint of a new output. Its idempotency keys contain `prefix`, or a random
    /// text if `prefix` is `None`.
    pub(super) fn begin_with(purpose: Purpose, prefix: Option<String>) -> io::Result<Self> {
        let begun = Self::begin(purpose)?;
        Ok(match prefix {
            Some(job) => Self { job, ..begun },
            None => begun,
        })
    }

    pub(super) fn agree(&self, other: &Purpose, part: &Path, job: &Path) -> Result<(), PartError> {
        let what = if self.purpose.endpoint != other.endpoint {
            format!("the endpoint {}", self.purpose.endpoint)
        } else if !self.purpose.mapping.is_same(&other.mapping) {
            format!("another mapping ({})", self.purpose.mapping)
        } else if self.purpose.caller != other.caller {
            self.purpose.caller.clone()
        } else if self.purpose.prefix != other.prefix {
            match self.purpose.prefix.as_str() {
                "" => "no prefix".to_owned(),
                prefix => format!("the prefix {prefix}"),
            }
        } else if self.purpose.candidates != other.candidates {
            match self.purpose.candidates {
                0 => "no candidates".to_owned(),
                most => format!("{most} candidates a row"),
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

/// Reads the checkpoint in the file `job`; `None` if there is no such file.
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
