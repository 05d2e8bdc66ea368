#![doc = include_str!("../README.md")]

mod columns;
mod connect;
mod database;
mod failure;
mod open_error;
mod pulse;
mod runtime;
mod schema;
mod store;

pub use connect::UrlError;
pub use open_error::OpenError;
pub use store::{Options, migrate};
