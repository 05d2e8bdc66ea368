//! The order of the checks, over ports in memory that record their calls.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "metering/charges.rs"]
mod charges;
#[path = "metering/keys.rs"]
mod keys;
#[path = "metering/lists.rs"]
mod lists;
#[path = "metering/look_ups.rs"]
mod look_ups;
#[path = "metering/repeats.rs"]
mod repeats;
#[path = "metering/world.rs"]
mod world;
