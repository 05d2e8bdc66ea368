//! Resolves cells that repeat the cell above them, such as `dito` and `″`.

use std::collections::HashSet;
use std::sync::LazyLock;

use serde_json::{Map, Value};

use crate::table;

/// The texts of `data/dittos.txt`.
static DITTOS: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    let texts = table::rows(include_str!("../data/dittos.txt"));
    texts.flat_map(|[texts]| table::values(texts)).collect()
});

/// Replaces the cells of a row that stand for the cells of the row above it.
#[derive(Debug, Default)]
pub struct Dittos {
    above: Map<String, Value>,
}

impl Dittos {
    /// Creates the value for the row below this one, whose own cells are replaced already.
    pub fn below(above: Map<String, Value>) -> Self {
        Self { above }
    }

    /// Replaces each cell such as `dito` by the cell of the same column in the row above. A cell
    /// stays as it is if the cell above is empty.
    pub fn resolve(&self, row: &mut Map<String, Value>) {
        for (column, cell) in row {
            if let Value::String(text) = cell
                && is_ditto(text)
                && let Some(Value::String(above)) = self.above.get(column)
                && !above.trim().is_empty()
                && above.len() <= MAX_BYTES
            {
                *text = above.clone();
            }
        }
    }
}

/// Maximum length of a cell that is repeated, in bytes. Longer cells have no names or addresses,
/// and repeating them would take much memory.
const MAX_BYTES: usize = 1000;

/// Whether a cell stands for the cell above it. Words such as `idem` must be in small letters,
/// because `Idem` may be the name of a company.
fn is_ditto(cell: &str) -> bool {
    /// The length of the longest text in `data/dittos.txt`, in bytes.
    const LONGEST: usize = 16;
    let cell = cell.trim();
    (1..=LONGEST).contains(&cell.len()) && DITTOS.contains(cell)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_text_is_short_enough() {
        assert!(DITTOS.iter().all(|text| is_ditto(text)));
    }

    #[test]
    fn a_ditto_is_replaced_by_the_cell_above() {
        let rows = [
            (json!({"a": "Quill", "b": "1", "c": ""}), json!({"a": "Quill", "b": "1", "c": ""})),
            (json!({"a": "dito", "b": "2", "c": "\""}), json!({"a": "Quill", "b": "2", "c": "\""})),
            (json!({"a": "″", "b": "Idem", "c": 3}), json!({"a": "Quill", "b": "Idem", "c": 3})),
            (json!({"a": "", "d": "same"}), json!({"a": "", "d": "same"})),
            (json!({"a": "idem"}), json!({"a": "idem"})),
        ];
        let mut dittos = Dittos::default();
        for (row, expected) in rows {
            let mut row = row.as_object().unwrap().clone();
            dittos.resolve(&mut row);
            assert_eq!(Value::Object(row.clone()), expected);
            dittos = Dittos::below(row);
        }
    }
}
