//! Tests of whole lists, through the public interface of the crate.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "what fails here fails a test, helpers of the tests included"
)]

mod any_rows;
mod candidates;
mod fixture;
mod forgetting;
mod formats;
mod jobs;
#[cfg(test)]
mod limits;
mod office;
mod resuming;
mod running;
mod several_nodes;
mod together;
