//! Selects the source of the answers to the rows of a list: the data folder, or a server, for which
//! an API key is needed.

use std::sync::Arc;

use clap::Args;
use enrich_bulk::{Caller, DirectoryCaller, NationalNumbers, RemoteCaller, Target};
use enrich_core::ApiKey;
use enrich_store::Options;
use enrich_text::Country;

use super::super::{DataFolder, Failure, named};
use crate::settings::LookUpSettings;

// The options that select the source of the answers: the data folder or a server. (A doc comment
// here would become the help of the command.)
#[derive(Clone, Args)]
pub(super) struct CallerArgs {
    /// URL of a server that answers the rows, and charges for them, instead of the data folder
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// API key for the server; safer in the variable ENRICH_KEY, because other users of the machine
    /// can see command lines
    #[arg(long, value_name = "KEY", env = "ENRICH_KEY", hide_env_values = true)]
    key: Option<String>,
    #[command(flatten)]
    settings: LookUpSettings,
    /// Country (alpha-2 code) of national phone numbers; with --url, the server uses the country of
    /// the account
    #[arg(long, value_name = "CC", value_parser = named::country, conflicts_with = "url")]
    country: Option<Country>,
    #[command(flatten)]
    data: DataFolder,
}

impl std::fmt::Debug for CallerArgs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CallerArgs").field("url", &self.url).finish_non_exhaustive()
    }
}

impl CallerArgs {
    /// Whether answers cost credits.
    pub(super) fn is_metered(&self) -> bool {
        self.url.is_some()
    }

    /// Returns the country to which phone numbers without a country calling code belong: the value
    /// of the option `--country`. With `--url`, the server uses the country of the account. That
    /// country is unknown here.
    pub(super) fn national_numbers(&self) -> NationalNumbers {
        match &self.url {
            Some(_) => NationalNumbers::OfUnknownAccount,
            None => NationalNumbers::Of(self.country),
        }
    }

    /// Describes the source of the answers: `the server https://enrich.example` or `a data folder`.
    /// A later run continues the output of a list only if its source has the same description.
    pub(super) fn in_words(&self) -> String {
        match &self.url {
            Some(url) => format!("the server {}", url.trim().trim_end_matches('/')),
            None => "a data folder".to_owned(),
        }
    }

    pub(super) fn caller(
        &self,
        target: Target,
        connections: usize,
    ) -> Result<Box<dyn Caller>, Failure> {
        let Some(url) = &self.url else {
            let min_name_confidence = self.settings.min_confidence.0;
            let store =
                self.data.open_directory(&Options { min_name_confidence, ..Options::default() })?;
            store.directory.prepare()?;
            let caller = DirectoryCaller::new(Arc::clone(&store.directory) as _, target);
            let most = self.settings.max_enrichment_items;
            return Ok(Box::new(caller.with_max_enrichment_items(most).in_country(self.country)));
        };
        let Some(key) = &self.key else {
            let how = "a server asks for an API key: set the variable ENRICH_KEY";
            return Err(Failure::Impossible(how.to_owned()));
        };
        let key = ApiKey::parse(key).map_err(|error| Failure::impossible(&error))?;
        let caller = RemoteCaller::new(url, target, &key, connections);
        Ok(Box::new(caller.map_err(|error| Failure::impossible(&error))?))
    }
}
