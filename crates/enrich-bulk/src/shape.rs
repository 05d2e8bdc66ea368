//! The shape of a list: its format and its columns.

/// The format of a list's rows, and the names of their columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// CSV, with the names of the columns.
    Csv(Vec<String>),
    /// JSON Lines, with the names of the columns. These are the names of the members in the first
    /// objects of the list.
    Json(Vec<String>),
}

impl Shape {
    pub(crate) fn columns(&self) -> &[String] {
        match self {
            Self::Csv(columns) | Self::Json(columns) => columns,
        }
    }
}
