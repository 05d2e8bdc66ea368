//! `enrich ledger`: verifies and exports the ledger.

mod export;

use std::io::{self, Write};

use clap::Subcommand;
use enrich_core::port::ledger::Verification;
use enrich_store::Store;
use serde::Serialize;

use super::table::Pairs;
use super::{Common, Console, Failure, Shown, Verdict, named};
use export::Export;

#[derive(Debug, Subcommand)]
pub(crate) enum LedgerCommand {
    /// Check every row of the ledger, and all sums
    #[command(after_help = "\
Example:
  enrich ledger verify

`granted` and `charged` are numbers of credits; `charges` is the number of rows. JSON:
{\"ok\",\"accounts\",\"granted\",\"charged\",\"charges\",\"faults\"}.

Exit status: 0 if the ledger has no faults; 1 if it has faults, which are listed.")]
    Verify(Common),
    /// Print the rows of an account, or of all accounts, as CSV
    #[command(after_help = "\
Examples:
  enrich ledger export 019a3c5e-7b1d-7c2a-9f00-5d1e8a4b6c70 > ledger.csv
  enrich ledger export --all > ledger.csv

A text that a spreadsheet would run as a formula gets an apostrophe before it.")]
    Export(Export),
}

impl LedgerCommand {
    pub(crate) fn run(self, console: &mut Console<'_>) -> Result<Verdict, Failure> {
        match self {
            Self::Verify(common) => verify(&common, console),
            Self::Export(export) => export.run(console),
        }
    }
}

#[derive(Serialize)]
struct Proof {
    ok: bool,
    accounts: u64,
    granted: i64,
    charged: u64,
    charges: u64,
    faults: Vec<String>,
    #[serde(skip)]
    entries: u64,
}

fn verify(common: &Common, console: &mut Console<'_>) -> Result<Verdict, Failure> {
    let found = match common.data.store()? {
        Some(_) => pollster::block_on(common.open_accounts()?.ledger.verify())?,
        // `Store::verify` reads the ledger without opening it for charging. A ledger that somebody
        // has altered cannot be opened for charging, but its faults can still be shown.
        None => Store::verify(common.data.path())?,
    };
    let proof = Proof::from(found);
    common.show(&proof, console)?;
    Ok(Verdict::from(proof.ok))
}

impl From<Verification> for Proof {
    fn from(found: Verification) -> Self {
        let Verification { accounts, entries, granted, charged, charges, faults } = found;
        Self { ok: faults.is_empty(), accounts, granted, charged, charges, faults, entries }
    }
}

impl Shown for Proof {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        Pairs::default()
            .add("accounts", self.accounts)
            .add("ledger", format!("{} rows, {} of them charges", self.entries, self.charges))
            .add("granted", named::credits(self.granted))
            .add("charged", named::credits(self.charged))
            .write(out)?;
        for fault in &self.faults {
            writeln!(out, "fault: {fault}")?;
        }
        if self.ok {
            writeln!(out, "everything adds up")
        } else {
            writeln!(out, "{} faults: the ledger does not add up", self.faults.len())
        }
    }
}
