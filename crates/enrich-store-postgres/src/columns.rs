//! Conversions between Rust values and columns. Times are stored as microseconds since 1970,
//! unsigned numbers as `bigint`, hashes as `bytea`.

use enrich_core::Timestamp;
use tokio_postgres::types::{ToSql, Type};

use crate::failure::Failure;

/// A parameter of a statement with its type, as `query_typed` and `execute_typed` expect it.
pub(crate) type Value<'v> = (&'v (dyn ToSql + Sync), Type);

/// A keyed hash.
pub(crate) type Hash = [u8; 32];

/// A column contains a value that Enrich never writes.
#[derive(Debug, thiserror::Error)]
#[error("a stored value is not {0}")]
struct Unreadable(&'static str);

/// Returns the failure for a value that Enrich never writes. `expected` says what the column should
/// contain.
pub(crate) fn unreadable(expected: &'static str) -> Failure {
    Failure::of(Unreadable(expected))
}

/// Converts a time to microseconds since 1970.
pub(crate) fn micros(at: Timestamp) -> i64 {
    at.as_microsecond()
}

/// Returns the time that is `micros` microseconds after 1970-01-01.
pub(crate) fn timestamp(micros: i64) -> Result<Timestamp, Failure> {
    Timestamp::from_microsecond(micros).map_err(Failure::of)
}

/// Reads a count or a sum from a column; fails if the column is negative.
pub(crate) fn unsigned(column: i64) -> Result<u64, Failure> {
    u64::try_from(column).map_err(|_| unreadable("a number from 0"))
}

/// Converts a number to the value of a column; fails if the number is too large.
pub(crate) fn signed(number: u64) -> Result<i64, Failure> {
    i64::try_from(number).map_err(|_| Failure::of("a number is too large for the store"))
}

/// Converts a number to the value of a column. Callers pass only numbers that fit, such as a
/// sequence, a balance, or a checked count of items. A larger number would become `i64::MAX`.
pub(crate) fn clamped(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Reads a keyed hash of 32 bytes.
pub(crate) fn hash(column: &[u8]) -> Result<Hash, Failure> {
    Hash::try_from(column).map_err(|_| unreadable("a hash of 32 bytes"))
}

/// Converts hashes to the elements of a parameter of type `bytea[]`.
pub(crate) fn slices(hashes: &[Hash]) -> Vec<&[u8]> {
    hashes.iter().map(|hash| &hash[..]).collect()
}

/// Converts the number of a secret to the value of a column. The file `secret.key` contains the
/// secrets with their numbers.
pub(crate) fn secret_column(id: u32) -> Result<i32, Failure> {
    i32::try_from(id).map_err(|_| Failure::of("a secret's number is too large for the store"))
}

/// Reads the number of a secret ([`secret_column`]) from a column.
pub(crate) fn secret_id(column: i32) -> Result<u32, Failure> {
    u32::try_from(column).map_err(|_| unreadable("the number of a secret"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_read_back() {
        let now: Timestamp = "2026-11-20T12:00:00.000001Z".parse().unwrap();
        assert_eq!(timestamp(micros(now)).unwrap(), now);
        assert!(timestamp(i64::MAX).is_err());
    }

    #[test]
    fn numbers_and_hashes_that_do_not_fit_are_errors() {
        assert_eq!(unsigned(signed(7).unwrap()).unwrap(), 7);
        assert!(unsigned(-1).is_err() && signed(u64::MAX).is_err());
        assert!(secret_id(-1).is_err() && secret_column(u32::MAX).is_err());
        assert_eq!(hash(&[3; 32]).unwrap(), [3; 32]);
        assert!(hash(&[3; 31]).is_err());
    }
}
