//! `enrich serve`: serves the API over HTTP.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::bail;
use clap::Args;
use enrich_server::Prepared;
use enrich_store::{Durability, Options, Store};
use enrich_text::Phone;

use crate::node::Node;
use crate::served::{LISTS, with_settings};
use crate::settings::{Settings, SettingsLayer};
use crate::telemetry;

// The arguments of the command. (A doc comment here would become the help of the command.)
#[derive(Clone, Debug, Args)]
pub(crate) struct ServeArgs {
    /// Settings file (TOML): its keys are the flags' names with `_` for `-`; flags and environment
    /// variables win over it
    #[arg(long, env = "ENRICH_CONFIG", hide_env_values = true, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(flatten)]
    settings: SettingsLayer,
    /// When an acknowledged charge has reached the disk. `checkpoint` loses charges in a power
    /// failure, and is there to show that the tests which cut the power would notice.
    #[arg(long, hide = true, default_value = "commit", value_parser = durability)]
    ledger_durability: Durability,
}

fn durability(text: &str) -> Result<Durability, &'static str> {
    match text {
        "commit" => Ok(Durability::Commit),
        "checkpoint" => Ok(Durability::Checkpoint),
        _ => Err("it is `commit` or `checkpoint`"),
    }
}

/// Runs the server until the process gets a stop signal. There are two cases:
///
/// - The accounts are in the data folder `data`. If this folder does not exist, it is created.
/// - The accounts are in PostgreSQL. Then the folder `data` must exist and contain the `secret.key`
///   of the database.
///
/// # Errors
///
/// When the settings, the data folder or the address cannot be used.
pub(crate) fn run(data: &Path, args: ServeArgs) -> anyhow::Result<ExitCode> {
    let settings = Settings::load(args.settings, args.config)?;
    telemetry::begin(settings.log_format, settings.log_level)?;
    enrich_server::serve(&settings.server(), |_| -> anyhow::Result<Prepared> {
        if let Some(url) = &settings.store {
            let node = Node::open(data, url, &settings)?;
            Phone::prepare();
            return Ok(node.prepared(&settings, String::new()));
        }
        if settings.directory_from.is_some() {
            bail!(
                "snapshots are for servers over a store; name --store, or leave out directory_from"
            );
        }
        if settings.lists.is_some() {
            bail!(
                "a folder of lists is for servers over a store; name --store, or leave out lists"
            );
        }
        let options = Options {
            max_idempotency_records: settings.max_kept,
            min_name_confidence: settings.min_confidence.0,
            durability: args.ledger_durability,
            count_misses: settings.count_misses.into(),
            ..Options::default()
        };
        let store = Store::open_or_create_with(data, &options)?;
        // The phone number data and the directory (the look-up data) are prepared before the server
        // starts. Otherwise the first call with a phone number or a name would be slow.
        Phone::prepare();
        store.directory.prepare()?;
        let service = with_settings(store.service(), &settings);
        let (sign_ins, lists) = (store.sign_ins.clone(), data.join(LISTS));
        Ok(Prepared {
            service,
            sign_ins,
            lists,
            job_records: None,
            shares_lists: false,
            shared_store: None,
            greeting: String::new(),
        })
    })?;
    Ok(ExitCode::SUCCESS)
}
