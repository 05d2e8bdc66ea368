//! Converts Enrich's own types to column values of SQLite and back: ids are 16 bytes, times are
//! microseconds since 1970, credits are signed 64-bit integers.

use enrich_core::{AccountId, ChargeId, Credits, KeyId, Timestamp};
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};

/// Wraps an id, a time or a number of credits, so that it can be read from a column or written to a
/// column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column<T>(pub T);

macro_rules! id_column {
    ($($id:ident),+) => {$(
        impl FromSql for Column<$id> {
            fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
                let bytes = <[u8; 16]>::column_result(value)?;
                Ok(Self($id(uuid::Uuid::from_bytes(bytes))))
            }
        }

        impl ToSql for Column<$id> {
            fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                Ok(ToSqlOutput::from(&self.0.0.as_bytes()[..]))
            }
        }
    )+};
}

id_column!(AccountId, ChargeId, KeyId);

impl FromSql for Column<Timestamp> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let at = Timestamp::from_microsecond(i64::column_result(value)?);
        at.map(Self).map_err(FromSqlError::other)
    }
}

impl ToSql for Column<Timestamp> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.0.as_microsecond().into())
    }
}

impl FromSql for Column<Credits> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        u64::column_result(value).map(|credits| Self(Credits(credits)))
    }
}

impl ToSql for Column<Credits> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        self.0.0.to_sql()
    }
}
