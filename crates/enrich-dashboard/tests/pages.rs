//! Tests of the pages with stores in memory: each test sends requests and checks the responses.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

#[path = "pages/bulk.rs"]
mod bulk;
#[path = "pages/figures.rs"]
mod figures;
#[path = "pages/keys.rs"]
mod keys;
#[path = "pages/others.rs"]
mod others;
#[path = "pages/playground.rs"]
mod playground;
#[path = "pages/shown.rs"]
mod shown;
#[path = "pages/sign_in.rs"]
mod sign_in;
#[path = "pages/texts.rs"]
mod texts;
#[path = "pages/uploads.rs"]
mod uploads;
#[path = "pages/world.rs"]
mod world;
