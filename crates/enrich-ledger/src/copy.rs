//! The tables and columns that are copied when a ledger moves from one kind of store to another,
//! for example from SQLite to PostgreSQL.
//!
//! A store exports the tables in the order of [`TABLES`] as batches of rows, and imports them in
//! the same order. All values are copied unchanged, including hashes and encrypted values. So both
//! stores need the same `secret.key`. Some data exists in only one kind of store, such as the log
//! positions of SQLite or the locks of PostgreSQL. The importing store creates such data itself.

/// The kind of a column's values. Each value may be [`Value::Null`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A UUID: 16 bytes.
    Id,
    /// A signed integer of 64 bits. It may be a time, in microseconds since 1970.
    Integer,
    /// A signed integer of 32 bits, such as the number of a secret in `secret.key`.
    Number,
    /// A boolean.
    Flag,
    /// Text.
    Text,
    /// Bytes: a hash or an encrypted value.
    Bytes,
}

/// The value of one column in one row.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    /// The column has no value in this row.
    Null,
    /// A value of [`Kind::Id`].
    Id([u8; 16]),
    /// A value of [`Kind::Integer`] or [`Kind::Number`].
    Integer(i64),
    /// A value of [`Kind::Flag`].
    Flag(bool),
    /// A value of [`Kind::Text`].
    Text(String),
    /// A value of [`Kind::Bytes`].
    Bytes(Vec<u8>),
}

/// A row: one value for each column of its table.
pub type Values = Vec<Value>;

/// A table of a ledger: its name, its columns and the order of its rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Table {
    /// The table's name, which is the same in all stores.
    pub name: &'static str,
    /// The columns, each with the kind of its values.
    pub columns: &'static [(&'static str, Kind)],
    /// The columns by which the rows are sorted, separated by commas.
    pub order: &'static str,
}

/// A batch of rows of one table.
#[derive(Clone, Debug)]
pub struct Batch {
    /// The table to which the rows belong.
    pub table: &'static Table,
    /// The rows, sorted by [`Table::order`].
    pub rows: Vec<Values>,
}

/// The number of rows in a full batch.
pub const BATCH_ROWS: usize = 5_000;

/// The table of the ledger's rows; see [`Row`](crate::Row).
pub const ENTRY: Table = Table {
    name: "entry",
    columns: &[
        ("account", Kind::Id),
        ("sequence", Kind::Integer),
        ("id", Kind::Id),
        ("kind", Kind::Text),
        ("corrects", Kind::Id),
        ("credits", Kind::Integer),
        ("balance", Kind::Integer),
        ("endpoint", Kind::Text),
        ("items", Kind::Integer),
        ("price", Kind::Text),
        ("api_key", Kind::Id),
        ("request_id", Kind::Text),
        ("generation", Kind::Integer),
        ("note", Kind::Text),
        ("at", Kind::Integer),
        ("secret", Kind::Number),
        ("chain", Kind::Bytes),
    ],
    order: "account, sequence",
};

/// The table with the time at which each API key was last used.
pub const KEY_USED: Table = Table {
    name: "key_used",
    columns: &[("api_key", Kind::Id), ("at", Kind::Integer)],
    order: "api_key",
};

/// All tables of a ledger. A table comes after the tables to which its rows refer.
pub const TABLES: [&Table; 11] = [
    &Table {
        name: "secret",
        columns: &[("id", Kind::Number), ("check_hash", Kind::Bytes)],
        order: "id",
    },
    &Table {
        name: "account",
        columns: &[
            ("id", Kind::Id),
            ("name", Kind::Text),
            ("created_at", Kind::Integer),
            ("status", Kind::Text),
            ("status_reason", Kind::Text),
            ("country", Kind::Text),
        ],
        order: "id",
    },
    &Table {
        name: "api_key",
        columns: &[
            ("id", Kind::Id),
            ("account", Kind::Id),
            ("label", Kind::Text),
            ("hint", Kind::Text),
            ("hash", Kind::Bytes),
            ("sealed", Kind::Bytes),
            ("secret", Kind::Number),
            ("requests", Kind::Integer),
            ("window_seconds", Kind::Integer),
            ("created_at", Kind::Integer),
            ("expires_at", Kind::Integer),
            ("ended", Kind::Flag),
        ],
        order: "id",
    },
    &KEY_USED,
    &ENTRY,
    &Table {
        name: "kept",
        columns: &[
            ("account", Kind::Id),
            ("key_hash", Kind::Bytes),
            ("asked_hash", Kind::Bytes),
            ("sealed", Kind::Bytes),
            ("secret", Kind::Number),
            ("balance", Kind::Integer),
            ("charge", Kind::Id),
            ("at", Kind::Integer),
        ],
        order: "account, key_hash",
    },
    &Table {
        name: "used",
        columns: &[
            ("account", Kind::Id),
            ("day", Kind::Integer),
            ("api_key", Kind::Id),
            ("endpoint", Kind::Text),
            ("outcome", Kind::Text),
            ("calls", Kind::Integer),
            ("credits", Kind::Integer),
        ],
        order: "account, day, api_key, endpoint, outcome",
    },
    &Table {
        name: "sign_in",
        columns: &[
            ("account", Kind::Id),
            ("email_hash", Kind::Bytes),
            ("email", Kind::Bytes),
            ("secret", Kind::Number),
            ("password", Kind::Bytes),
            ("password_secret", Kind::Number),
            ("created_at", Kind::Integer),
        ],
        order: "account",
    },
    &Table {
        name: "invitation",
        columns: &[
            ("account", Kind::Id),
            ("token_hash", Kind::Bytes),
            ("secret", Kind::Number),
            ("until", Kind::Integer),
        ],
        order: "account",
    },
    &Table {
        name: "session",
        columns: &[
            ("token_hash", Kind::Bytes),
            ("secret", Kind::Number),
            ("account", Kind::Id),
            ("started_at", Kind::Integer),
            ("seen_at", Kind::Integer),
            ("ends_at", Kind::Integer),
        ],
        order: "token_hash",
    },
    &Table {
        name: "missed_name",
        columns: &[
            ("day", Kind::Integer),
            ("hash", Kind::Bytes),
            ("name", Kind::Text),
            ("calls", Kind::Integer),
        ],
        order: "day, hash",
    },
];

impl Table {
    /// Returns the names of the columns, separated by commas.
    pub fn column_list(&self) -> String {
        let names: Vec<&str> = self.columns.iter().map(|(name, _)| *name).collect();
        names.join(", ")
    }

    /// Returns the value of a column in a row of this table; `None` if there is no such column.
    pub fn value<'v>(&self, row: &'v Values, column: &str) -> Option<&'v Value> {
        let index = self.columns.iter().position(|(name, _)| *name == column)?;
        row.get(index)
    }
}
