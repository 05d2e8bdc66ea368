//! Tests of the documents: links have targets, commands exist, and examples print what the pages
//! show.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

#[path = "documents/commands.rs"]
mod commands;
#[path = "documents/deploy.rs"]
mod deploy;
#[path = "documents/document_page.rs"]
mod document_page;
#[path = "documents/examples.rs"]
mod examples;
#[path = "documents/links.rs"]
mod links;
#[path = "documents/metrics.rs"]
mod metrics;
#[path = "documents/runbook.rs"]
mod runbook;
