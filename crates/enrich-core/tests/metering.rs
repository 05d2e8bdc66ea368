//! Tests of the order in which the service checks a call. The stores are fakes in memory that
//! record how they are called.
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
