//! Checks that texts are parsed as people type them.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed reading is a failed test")]

mod company_name;
mod country;
mod domain;
mod email;
mod mail_host;
mod page_url;
mod person_name;
mod person_page;
mod phone;
mod properties;
