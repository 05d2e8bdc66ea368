//! Snapshots from one machine to nodes, over a list in memory.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod faults;
mod forgetting;
mod publishing;
mod starting;
mod swapping;
mod world;
