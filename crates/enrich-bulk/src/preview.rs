//! What a list would cost at most, before anything is asked.

use enrich_import::ReadError;
use enrich_text::{Country, InvalidPhone, Phone};
use enrich_wire::{Endpoint, Kind};
use serde::Serialize;

use crate::caller::{RowFields, wire_fields};
use crate::input::{self, Input};
use crate::mapping::{Mapping, MappingError};
use crate::row;

/// A phone number that every endpoint reads: one of a range kept for fiction.
const READABLE_NUMBER: &str = "+442079460123";

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

/// The country that national phone numbers of a list are read with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NationalNumbers {
    /// This one; without one, only international numbers are read.
    Of(Option<Country>),
    /// That of an account on another server, which is not known here. What may be a national number
    /// counts as asked, so that the highest cost is never too low.
    OfUnknownAccount,
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

/// Reads a whole list to its end. Fields are read as they are when the rows are asked.
///
/// # Errors
///
/// When it can't be read, or the mapping can't be used.
pub fn preview(
    input: &mut Input,
    endpoint: &'static Endpoint,
    mapping: &Mapping,
    numbers: NationalNumbers,
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
        let highest = row::highest_price(endpoint.price, &fields);
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

/// Whether a text may be a phone number once a country is known.
fn may_be_national(text: &str) -> bool {
    let unread = Phone::parse(text).err();
    let is_number =
        matches!(unread, Some(InvalidPhone::NoCountryCode | InvalidPhone::ImpossibleLength));
    is_number && !text.trim_start().starts_with('+')
}
