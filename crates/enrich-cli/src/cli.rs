//! The syntax of the command line. The arguments of a command are in the file of this command.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::commands::account::AccountCommand;
use crate::commands::backup::Backup;
use crate::commands::bulk::Bulk;
use crate::commands::check::Check;
use crate::commands::compact::Compact;
use crate::commands::credits::CreditsCommand;
use crate::commands::decision::DecisionCommand;
use crate::commands::directory::DirectoryCommand;
use crate::commands::duplicates::DuplicatesCommand;
use crate::commands::endpoints::Endpoints;
use crate::commands::forget::Forget;
use crate::commands::import::Import;
use crate::commands::key::KeyCommand;
use crate::commands::ledger::LedgerCommand;
use crate::commands::lookup::Lookup;
use crate::commands::merge::Merge;
use crate::commands::openapi::OpenApi;
use crate::commands::reindex::Reindex;
use crate::commands::restore::Restore;
use crate::commands::serving::Serve;
use crate::commands::source::SourceCommand;
use crate::commands::split::Split;
use crate::commands::stats::Stats;
use crate::commands::store::StoreCommand;
use crate::demo::DemoArgs;
use crate::hide::{without_keys, without_store_urls};

/// Business-data look-ups on your own machines, metered in credits
#[derive(Debug, Parser)]
#[command(
    name = "enrich",
    version,
    max_term_width = 100,
    subcommand_required = true,
    arg_required_else_help = true,
    after_help = "\
Examples:
  enrich demo
  enrich import companies.jsonl people.csv.gz
  enrich account create \"Quill Ltd\" --credits 1000
  enrich lookup cuf companyName=Quill

Exit status: 0 success; 1 the answer is no, or something that you named does not exist; 2 an error,
such as a wrong command line, or a file or database that cannot be read or written."
)]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serve sample data from a temporary folder, and print an API key for it
    #[command(after_help = "\
Examples:
  enrich demo --listen 127.0.0.1:8080
  enrich demo --with companies.csv wikidata.json

The data folder is temporary: it is deleted at the end. With --with, the demo serves the records of
your files instead of the sample data. To keep your data, use `enrich import` and `enrich serve`.")]
    Demo(DemoArgs),
    /// Serve the interface over HTTP
    Serve(Serve),
    /// Import records into the directory
    Import(Import),
    /// Manage accounts
    #[command(subcommand, after_help = "Example:\n  enrich account create \"Quill Ltd\"")]
    Account(AccountCommand),
    /// Grant, correct and show the credits of accounts
    #[command(
        subcommand,
        after_help = "Example:\n  enrich credits grant 019a3c5e-7b1d-7c2a-9f00-5d1e8a4b6c70 500"
    )]
    Credits(CreditsCommand),
    /// Manage the API keys of accounts
    #[command(
        subcommand,
        after_help = "Example:\n  enrich key list 019a3c5e-7b1d-7c2a-9f00-5d1e8a4b6c70"
    )]
    Key(KeyCommand),
    /// Verify and export the ledger of all grants and charges
    #[command(subcommand, after_help = "Example:\n  enrich ledger verify")]
    Ledger(LedgerCommand),
    /// Answer one request from the data folder, without a charge
    Lookup(Lookup),
    /// Look up each row of a list
    Bulk(Bulk),
    /// Remove values from the directory, and suppress them in later imports
    Forget(Forget),
    /// List and remove the sources of imported records
    #[command(subcommand, after_help = "Example:\n  enrich source list")]
    Source(SourceCommand),
    /// List companies that look alike, and why they are not one company
    Duplicates(DuplicatesCommand),
    /// Decide that two companies are one
    Merge(Merge),
    /// Decide that records or companies are never one company
    Split(Split),
    /// List the decisions of `merge` and `split`, and take them back
    #[command(subcommand, after_help = "Example:\n  enrich decision list")]
    Decision(DecisionCommand),
    /// List the endpoints with their paths, inputs, answers and prices
    Endpoints(Endpoints),
    /// Print the OpenAPI 3.1 document of the interface
    Openapi(OpenApi),
    /// Check both databases for damage
    Check(Check),
    /// Rebuild the look-up data of a directory that an earlier version of Enrich made
    Reindex(Reindex),
    /// Count the data in the directory, and the calls to the endpoints
    Stats(Stats),
    /// Return the directory's unused disk space to the system
    Compact(Compact),
    /// Copy the data folder while it is in use, and check the copy
    Backup(Backup),
    /// Make a data folder from a backup
    Restore(Restore),
    /// Set up and check the PostgreSQL database that several servers share
    #[command(subcommand, after_help = "Example:\n  enrich store check")]
    Store(StoreCommand),
    /// Publish and select snapshots of the directory, for servers that share a database
    #[command(subcommand, after_help = "Example:\n  enrich directory list")]
    Directory(DirectoryCommand),
}

/// Prints the message about a mistake in the command line, or the help that the user has asked for.
pub(crate) fn refuse(error: &clap::Error) -> ExitCode {
    let text = error.render().to_string();
    let shown = without_keys(&text);
    let shown = without_store_urls(&shown);
    // Clap itself prints a text that contains no secret. A help text, which goes to the standard
    // output, contains nothing that the user has typed. An error message contains no API key and no
    // database URL if `shown` equals `text`.
    let is_printed = !error.use_stderr() || *shown == *text;
    // If the text cannot be written, at least the exit status shows the error.
    let _ = match is_printed {
        true => error.print(),
        false => io::stderr().write_all(shown.as_bytes()),
    };
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    /// Returns all commands and groups of commands, each with its words on the command line, such
    /// as `enrich key list`.
    fn commands(of: &clap::Command, words: &str) -> Vec<(String, clap::Command)> {
        let mut found = vec![(words.to_owned(), of.clone())];
        for command in of.get_subcommands() {
            found.extend(commands(command, &format!("{words} {}", command.get_name())));
        }
        found
    }

    /// Splits a line into words as a shell does. Ends at a pipe or a redirection.
    fn words(line: &str) -> Vec<String> {
        let mut words = vec![String::new()];
        let mut is_quoted = false;
        for letter in line.chars() {
            match letter {
                '"' => is_quoted = !is_quoted,
                ' ' if !is_quoted => words.push(String::new()),
                _ => words.last_mut().unwrap().push(letter),
            }
        }
        let end = words.iter().position(|word| [">", "<", "|"].contains(&word.as_str()));
        words.truncate(end.unwrap_or(words.len()));
        words
    }

    #[test]
    fn a_key_in_the_wrong_place_is_not_repeated() {
        let error = Cli::try_parse_from(["enrich", "key", "list", "enr_live_S3cret"]).unwrap_err();
        let text = error.render().to_string();
        assert!(text.contains("S3cret"), "the error says nothing of it: {text}");
        assert!(!without_keys(&text).contains("S3cret"));
        assert!(without_keys(&text).contains("'enr_live_…'"));
    }

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_command_shows_an_example_of_itself_that_can_be_typed() {
        let all = commands(&Cli::command(), "enrich");
        assert!(all.len() > 25, "only {} commands", all.len());
        for (name, command) in all {
            let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let examples: Vec<&str> =
                after.lines().filter_map(|line| line.strip_prefix("  enrich ")).collect();
            assert!(!examples.is_empty(), "`{name}` shows no example");
            for example in examples {
                let line = format!("enrich {example}");
                assert!(line.starts_with(&name), "`{name}` shows `{line}`");
                let parsed = Cli::try_parse_from(words(&line));
                assert!(parsed.is_ok(), "`{line}`: {}", parsed.unwrap_err());
            }
        }
    }

    #[test]
    fn every_command_takes_the_data_folder_and_the_store() {
        for (name, command) in commands(&Cli::command(), "enrich") {
            let takes = |long| command.get_opts().any(|option| option.get_long() == Some(long));
            let is_group = command.has_subcommands();
            // `enrich demo` uses a temporary folder, and `enrich store copy` gets its folder from
            // `--from` or `--to`. So these commands have no option `--data`.
            let has_own = ["enrich demo", "enrich store copy"].contains(&name.as_str());
            assert!(is_group || has_own || takes("data"), "`{name}` takes no --data");
            let names_both = name == "enrich store copy";
            assert!(is_group || names_both || takes("store"), "`{name}` takes no --store");
        }
    }
}
