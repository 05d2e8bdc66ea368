//! What a list would cost at most, before anything is asked.

use enrich_import::ReadError;
use enrich_wire::Endpoint;
use serde::Serialize;

use crate::caller::wire_fields;
use crate::input::{self, Input};
use crate::mapping::{Mapping, MappingError};
use crate::row;

/// What is known of a list before it is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Preview {
    /// Its rows.
    pub rows: u64,
    /// Those that can't be asked: they cost nothing.
    pub invalid: u64,
    /// The most that all others cost together; `None` where a list of the answer has no limit.
    pub highest_credits: Option<u64>,
}

/// Why there is no preview.
#[derive(Debug, thiserror::Error)]
pub enum PreviewError {
    /// The list can't be read.
    #[error("the list cannot be read")]
    Input(#[from] ReadError),
    /// The mapping can't be used.
    #[error(transparent)]
    Mapping(#[from] MappingError),
}

/// Reads a whole list to its end.
///
/// # Errors
///
/// When it can't be read, or the mapping can't be used.
pub fn preview(
    input: &mut Input,
    endpoint: &'static Endpoint,
    mapping: &Mapping,
) -> Result<Preview, PreviewError> {
    let bound = mapping.bind(endpoint, input.columns())?;
    let mut preview = Preview { rows: 0, invalid: 0, highest_credits: Some(0) };
    while let Some(row) = input.next_row()? {
        preview.rows += 1;
        let fields = input::fields(&bound, input.shape(), &row).ok();
        let asked = fields.filter(|fields| (endpoint.wire.read)(&wire_fields(fields)).is_ok());
        let Some(fields) = asked else {
            preview.invalid += 1;
            continue;
        };
        let highest = row::highest_price(endpoint.price, &fields);
        let sum = preview.highest_credits.zip(highest);
        preview.highest_credits = sum.and_then(|(sum, highest)| sum.checked_add(highest));
    }
    Ok(preview)
}
