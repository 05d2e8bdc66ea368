//! The operator's commands. Each command or group of commands has a file.

pub(crate) mod account;
mod advice;
pub(crate) mod backup;
pub(crate) mod bulk;
pub(crate) mod check;
pub(crate) mod compact;
mod company_arg;
mod console;
pub(crate) mod credits;
pub(crate) mod decision;
pub(crate) mod directory;
pub(crate) mod duplicates;
pub(crate) mod endpoints;
mod failure;
mod folder;
pub(crate) mod forget;
pub(crate) mod import;
pub(crate) mod key;
pub(crate) mod ledger;
pub(crate) mod lookup;
pub(crate) mod merge;
mod named;
pub(crate) mod openapi;
mod read_as;
pub(crate) mod reindex;
pub(crate) mod restore;
pub(crate) mod serving;
pub(crate) mod source;
pub(crate) mod split;
pub(crate) mod stats;
pub(crate) mod store;
mod table;

use std::process::ExitCode;

use crate::cli::Command;

pub(crate) use console::{Console, Format, Shown};
pub(crate) use failure::{Failure, Verdict};
pub(crate) use folder::{Common, DataFolder, DataPath};

/// Runs a command. A command that starts a server writes its own output and returns its own exit
/// status.
pub(crate) fn run(command: Command, console: &mut Console<'_>) -> Result<ExitCode, Failure> {
    let verdict = match command {
        Command::Demo(demo) => return Ok(crate::demo::run(&demo, console)?),
        Command::Serve(serve) => return serve.run(),
        Command::Import(import) => import.run(console),
        Command::Account(account) => account.run(console),
        Command::Credits(credits) => credits.run(console),
        Command::Key(key) => key.run(console),
        Command::Ledger(ledger) => ledger.run(console),
        Command::Lookup(lookup) => lookup.run(console),
        Command::Bulk(bulk) => bulk.run(console),
        Command::Forget(forget) => forget.run(console),
        Command::Source(source) => source.run(console),
        Command::Duplicates(duplicates) => duplicates.run(console),
        Command::Merge(merge) => merge.run(console),
        Command::Split(split) => split.run(console),
        Command::Decision(decision) => decision.run(console),
        Command::Endpoints(endpoints) => endpoints.run(console),
        Command::Openapi(openapi) => openapi.run(console),
        Command::Check(check) => check.run(console),
        Command::Reindex(reindex) => reindex.run(console),
        Command::Stats(stats) => stats.run(console),
        Command::Compact(compact) => compact.run(console),
        Command::Backup(backup) => backup.run(console),
        Command::Restore(restore) => restore.run(console),
        Command::Store(store) => store.run(console),
        Command::Directory(directory) => directory.run(console),
    };
    verdict.map(ExitCode::from)
}
