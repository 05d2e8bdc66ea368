//! The command `enrich serve`. Its arguments and the code that serves are in `crate::serve`.

use std::process::ExitCode;

use clap::Args;

use super::{DataPath, Failure};
use crate::serve::{self, ServeArgs};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  enrich serve
  enrich serve --listen 0.0.0.0:8080 --admin-listen 127.0.0.1:9090 --rate-policy reject

A missing data folder is created. With --store, the folder must hold the database's secret.key: see
`enrich store migrate`. Every setting can also be an environment variable or a line of the settings
file.")]
pub(crate) struct Serve {
    #[command(flatten)]
    data: DataPath,
    #[command(flatten)]
    args: ServeArgs,
}

impl Serve {
    pub(crate) fn run(self) -> Result<ExitCode, Failure> {
        Ok(serve::run(&self.data.path, self.args)?)
    }
}
