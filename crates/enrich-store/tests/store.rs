//! Tests of the SQLite store that are not in the contract suite, the tests that every store must
//! pass:
//!
//! - which folders the store refuses;
//! - whether its files are encrypted;
//! - whether it notices when somebody alters the ledger's file;
//! - the history of its schema;
//! - several processes that use one folder.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a failed unwrap is a failed test"
)]

#[path = "store/at_rest.rs"]
mod at_rest;
#[path = "store/crash.rs"]
mod crash;
#[path = "store/customer.rs"]
mod customer;
#[path = "store/directory_folder.rs"]
mod directory_folder;
#[path = "store/files.rs"]
mod files;
#[path = "store/folder.rs"]
mod folder;
#[path = "store/migrations.rs"]
mod migrations;
#[path = "store/reading.rs"]
mod reading;
#[path = "store/sign_ins.rs"]
mod sign_ins;
#[path = "store/tampering.rs"]
mod tampering;
#[path = "store/together.rs"]
mod together;
#[path = "store/usage.rs"]
mod usage;
