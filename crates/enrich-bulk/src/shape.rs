//! The shape of a list: its format and its columns.

/// The format of the rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// CSV with these columns.
    Csv(Vec<String>),
    /// JSON Lines, with the names in the first rows.
    Json(Vec<String>),
}

impl Shape {
    pub(crate) fn columns(&self) -> &[String] {
        match self {
            Self::Csv(columns) | Self::Json(columns) => columns,
        }
    }
}
