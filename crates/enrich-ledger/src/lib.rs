#![doc = include_str!("../README.md")]

pub mod copy;
mod decide;
mod last_row;
mod response;
mod row;
mod usage;
mod verify;

#[cfg(test)]
mod tests;

pub use decide::{ChargeDecision, NoPrice, check_price, decide_charge, decide_grant};
pub use last_row::{DoesNotFollow, LastRow};
pub use response::{
    RecordedCharge, ResponseName, SealedResponse, StoredRecord, has_expired, response_names,
    seal_response, share_of,
};
pub use row::{Chain, Malformed, NO_ROW, Row, kind, parse_price, price_text};
pub use usage::{GatheredUsage, LastUses, TakenUsage, UsageKey, UsageSum, day_of};
pub use verify::{AccountCheck, At, Correction, Fault, Findings};
