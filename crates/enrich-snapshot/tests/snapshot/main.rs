//! Tests of snapshots: one machine publishes them, and nodes answer from them. The list of
//! snapshots is in memory.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod faults;
mod forgetting;
mod publishing;
mod starting;
mod swapping;
mod world;
