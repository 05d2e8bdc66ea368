//! `enrich openapi`: prints the OpenAPI document.

use clap::Args;

use super::{Console, DataFolder, Failure, Verdict};

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  enrich openapi > openapi.json

OpenAPI 3.1, JSON: every endpoint, field, status and header. A server has the same at
/openapi.json, and shows it at /docs.")]
pub(crate) struct OpenApi {
    // The options are not used here, but scripts may give `--data` to every command.
    #[command(flatten)]
    _data: DataFolder,
}

impl OpenApi {
    pub(crate) fn run(self, console: &mut Console<'_>) -> Result<Verdict, Failure> {
        console.out.write_all(enrich_openapi::DOCUMENT.as_bytes())?;
        Ok(Verdict::Yes)
    }
}
