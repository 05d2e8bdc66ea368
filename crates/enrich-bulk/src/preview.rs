//! Computes the highest cost of a list before any row is sent.

use enrich_import::ReadError;
use enrich_text::{Country, InvalidPhone, Phone};
use enrich_wire::{Endpoint, Kind};
use serde::Serialize;

use crate::caller::{RowFields, wire_fields};
use crate::input::{self, Input};
use crate::mapping::{Mapping, MappingError};
use crate::row::{self, CandidatesOfRow};

/// A phone number that every endpoint accepts. The number belongs to nobody: its range is reserved
/// for fiction.
const READABLE_NUMBER: &str = "+442079460123";

/// The number of rows of a list, and the highest cost of these rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Preview {
    /// The number of rows in the list.
    pub rows: u64,
    /// The number of invalid rows, which cost nothing.
    pub invalid: u64,
    /// The highest cost of the valid rows, in credits. `None` if the endpoint charges by items and
    /// a valid row does not limit the number of items.
    pub highest_credits: Option<u64>,
}

/// Which phone numbers without a country calling code (national numbers) are valid in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NationalNumbers {
    /// Phone numbers of this country are valid without a country calling code. With `None`, every
    /// number needs a country calling code.
    Of(Option<Country>),
    /// The account's country is unknown here, because the account is on another server. Every text
    /// that may be a national number of some country counts as valid. So the computed cost is
    /// never too low.
    OfUnknownAccount,
}

/// Why the cost of a list cannot be computed.
#[derive(Debug, thiserror::Error)]
pub enum PreviewError {
    /// The list cannot be read.
    #[error("the list cannot be read")]
    Input(#[from] ReadError),
    /// The mapping is invalid.
    #[error(transparent)]
    Mapping(#[from] MappingError),
}

/// Reads the whole list and validates each row as a run would. Returns the number of rows and their
/// highest possible cost. If a row's company is not found by its name, the row gets at most
/// `candidates` candidates (companies that the name may mean). The cost includes their price.
///
/// # Errors
///
/// When the list cannot be read, or the mapping is invalid.
pub fn preview(
    input: &mut Input,
    endpoint: &'static Endpoint,
    mapping: &Mapping,
    numbers: NationalNumbers,
    candidates: usize,
) -> Result<Preview, PreviewError> {
    let bound = mapping.bind(endpoint, input.columns())?;
    let mut preview = Preview { rows: 0, invalid: 0, highest_credits: Some(0) };
    while let Some(row) = input.next_row()? {
        preview.rows += 1;
        let fields = input::fields(&bound, input.shape(), &row).ok();
        let asked = fields.filter(|fields| can_be_asked(endpoint, fields, numbers));
        let Some(fields) = asked else {
            preview.invalid += 1;
            continue;
        };
        let candidates = CandidatesOfRow::of(endpoint, &fields, candidates);
        let highest = row::highest_price(endpoint.price, &fields, candidates.is_some());
        let sum = preview.highest_credits.zip(highest);
        preview.highest_credits = sum.and_then(|(sum, highest)| sum.checked_add(highest));
    }
    Ok(preview)
}

fn can_be_asked(endpoint: &'static Endpoint, fields: &RowFields, numbers: NationalNumbers) -> bool {
    let country = match numbers {
        NationalNumbers::Of(country) => country,
        NationalNumbers::OfUnknownAccount => None,
    };
    if endpoint.read(&wire_fields(fields), country).is_ok() {
        return true;
    }
    if numbers != NationalNumbers::OfUnknownAccount {
        return false;
    }
    let is_phone = |name: &str| {
        endpoint
            .wire
            .inputs
            .iter()
            .any(|input| input.name == name && input.kind == Kind::PhoneNumber)
    };
    let read_elsewhere = |(name, text): &(&'static str, String)| {
        let is_number = is_phone(name) && may_be_national(text);
        (*name, if is_number { READABLE_NUMBER.to_owned() } else { text.clone() })
    };
    let fields: Vec<_> = fields.iter().map(read_elsewhere).collect();
    endpoint.read(&wire_fields(&fields), None).is_ok()
}

/// Whether a text may be a national phone number of some country.
fn may_be_national(text: &str) -> bool {
    let unread = Phone::parse(text).err();
    let is_number =
        matches!(unread, Some(InvalidPhone::NoCountryCode | InvalidPhone::ImpossibleLength));
    is_number && !text.trim_start().starts_with('+')
}
