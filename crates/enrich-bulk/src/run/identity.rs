//! Recognises the rows of a list when a run continues an interrupted job. The rows that are already
//! written must have the same text as in the earlier run. Each further row has the same idempotency
//! key as in the earlier run, unless its fields have changed.

use super::RunError;
use crate::input::Input;
use crate::part::Checkpoint;

/// Skips the rows of the list that are already written, and checks that they are unchanged.
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

/// Returns the hash of a row and all rows before it. `before` is the hash of the earlier rows.
pub(crate) fn chained(before: &str, row: &[u8]) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(before.as_bytes());
    hasher.update(row);
    hasher.finalize().to_hex().to_string()
}

/// Returns the idempotency key of a row. It is made from [`Checkpoint::job`], the row's number in
/// the list, and the row's fields. So if a field has changed, the row has another key and is sent
/// as a new call.
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
