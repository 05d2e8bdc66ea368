#![doc = include_str!("../README.md")]

mod api_key;
pub mod copy;
mod decide;
mod key_cache;
mod last_row;
mod misses;
mod response;
mod row;
mod sign_in;
mod usage;
mod verify;

#[cfg(test)]
mod tests;

pub use api_key::{key_hash, open_key, seal_key};
pub use decide::{ChargeDecision, decide_charge, decide_grant};
pub use key_cache::{KeyCache, KeyHash, KeyReading};
pub use last_row::{DoesNotFollow, LastRow};
pub use misses::{
    MissCount, MissCounter, MissedName, TakenMisses, expired_day_of_misses, missed_name_hashes,
};
pub use response::{
    RecordedCharge, ResponseName, SealedResponse, StoredRecord, has_expired, response_names,
    seal_response, share_of,
};
pub use row::{Chain, Malformed, NO_ROW, Row, kind, parse_price, price_text};
pub use sign_in::{Sealed, SealedSignIn, SignInHash, SignInSealing, session_id};
pub use usage::{GatheredUsage, LastUses, TakenUsage, UsageKey, UsageSum};
pub use verify::{AccountCheck, At, Correction, Fault, Findings};
