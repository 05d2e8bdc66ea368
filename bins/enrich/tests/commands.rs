//! Tests of the operator's commands, run as processes: their output, exit status and effect.

#![allow(clippy::unwrap_used, reason = "what fails here fails a test, its desk included")]

#[path = "commands/account_changes.rs"]
mod account_changes;
#[path = "commands/accounts.rs"]
mod accounts;
#[path = "commands/backups.rs"]
mod backups;
#[path = "commands/candidates.rs"]
mod candidates;
#[path = "commands/checking.rs"]
mod checking;
#[path = "commands/compacting.rs"]
mod compacting;
#[path = "commands/decisions.rs"]
mod decisions;
#[path = "commands/endpoints.rs"]
mod endpoints;
#[path = "commands/explaining.rs"]
mod explaining;
#[path = "commands/fixture.rs"]
mod fixture;
#[path = "commands/forgetting.rs"]
mod forgetting;
#[path = "commands/help.rs"]
mod help;
#[path = "commands/imports.rs"]
mod imports;
#[path = "commands/keys.rs"]
mod keys;
#[path = "commands/killed_loads.rs"]
mod killed_loads;
#[path = "commands/ledger.rs"]
mod ledger;
#[path = "commands/lookups.rs"]
mod lookups;
#[path = "commands/missed.rs"]
mod missed;
#[path = "commands/open_data.rs"]
mod open_data;
#[path = "commands/sign_ins.rs"]
mod sign_ins;
#[path = "commands/statistics.rs"]
mod statistics;
#[path = "commands/suppression_lists.rs"]
mod suppression_lists;
