//! Code for tests and benchmarks: the contract suite that every store passes, generated data,
//! functions that start the server and PostgreSQL, and a TCP proxy that simulates network failures.
//!
//! No part of this crate is linked into the program `enrich`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "this is test code in a library's clothes: a failed unwrap is a failed test"
)]

pub mod contract;
pub mod fake_clock;
pub mod fake_ports;
mod free_port;
pub mod generate;
pub mod http;
pub mod loading;
pub mod postgres;
pub mod records;
pub mod serving;
pub mod tcp_proxy;
