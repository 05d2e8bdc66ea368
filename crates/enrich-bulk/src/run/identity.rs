//! What makes a row the same row: its place in the list, its text, what is asked of it.

use super::RunError;
use crate::input::Input;
use crate::part::Checkpoint;

/// Reads past the rows that are written, and sees that they are the ones that were.
pub(super) fn skip(input: &mut Input, checkpoint: &Checkpoint) -> Result<(), RunError> {
    let mut hash = String::new();
    for _ in 0..checkpoint.counts.rows {
        let Some(row) = input.next_row()? else {
            return Err(RunError::OtherInput(checkpoint.counts.rows));
        };
        hash = chained(&hash, &row.text);
    }
    if hash == checkpoint.rows_hash {
        Ok(())
    } else {
        Err(RunError::OtherInput(checkpoint.counts.rows))
    }
}

/// The hash of a row and all before it.
pub(crate) fn chained(before: &str, row: &[u8]) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(before.as_bytes());
    hasher.update(row);
    hasher.finalize().to_hex().to_string()
}

/// The key of a row: of the job, the row's number and what is asked, so that a list whose later rows
/// were changed asks them anew.
pub(super) fn idempotency(job: &str, number: u64, fields: &[(&'static str, String)]) -> String {
    let mut hasher = blake3::Hasher::new();
    for (name, value) in fields {
        for part in [*name, value] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
    }
    let hash = hasher.finalize().to_hex();
    format!("bulk-{job}-{number}-{}", &hash[..16])
}
