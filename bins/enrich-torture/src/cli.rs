//! The command line: selects a torture, its number of rounds and its settings.

use std::fs;

use anyhow::{Context, Result};
use clap::builder::PossibleValuesParser;
use clap::{Parser, Subcommand};
use serde_json::Value;

use crate::attack::{CASES, HealthFigure};
use crate::fsync::FailingCall;
use crate::mount::FileSystem;
use crate::power::Control;
use crate::report::{Console, Summary};
use crate::setting::Setting;
use crate::{attack, flip, fsync, full, kill, pg, power};

/// Tests the ledger with kills, power cuts, full disks and damaged files
#[derive(Debug, Parser)]
#[command(
    name = "enrich-torture",
    max_term_width = 100,
    after_help = "\
Examples:
  enrich-torture kill --rounds 1000
  sudo enrich-torture power --rounds 300 --filesystem xfs
  sudo enrich-torture all --json torture.json

Exit status: 0 every promise was kept; 1 one was broken, and the data folder is left where it is
and named; 2 the torture could not be carried out, because a program or a right is missing."
)]
pub(crate) struct Cli {
    /// The torture to run.
    #[command(subcommand)]
    torture: Torture,
}

#[derive(Debug, Subcommand)]
enum Torture {
    #[command(flatten)]
    OfFolder(FolderTorture),
    /// Torture the ledger in PostgreSQL, over several nodes (needs PostgreSQL's server programs)
    Pg {
        #[command(subcommand)]
        case: pg::Case,
    },
    /// Run one node of a `pg` torture, which sends charges to the database
    #[command(hide = true)]
    PgNode(pg::NodeArgs),
}

/// Tortures of a server and its data folder.
#[derive(Debug, Subcommand)]
enum FolderTorture {
    /// Kill the server under load and start it again
    Kill {
        /// Number of kills
        #[arg(long, value_name = "NUMBER", default_value_t = 100)]
        rounds: u64,
        #[command(flatten)]
        setting: Setting,
    },
    /// Cut the power of the file system under load (needs root)
    Power {
        /// Number of power cuts
        #[arg(long, value_name = "NUMBER", default_value_t = 50)]
        rounds: u64,
        /// File system whose power is cut
        #[arg(long, value_name = "KIND", default_value = "ext4")]
        filesystem: FileSystem,
        /// Run a control: a variant that must lose charges. The command fails if the control loses
        /// none
        #[arg(long, value_name = "WHAT", num_args = 0..=1, default_missing_value = "checkpoint")]
        control: Option<Control>,
        #[command(flatten)]
        setting: Setting,
    },
    /// Let the 1st, 2nd, 3rd, … fsync or write fail, each in its own run of the server (needs
    /// strace)
    Fsync {
        /// Number of positions to test; at position N, the N-th call of each thread fails
        #[arg(long, value_name = "NUMBER", default_value_t = 50)]
        rounds: u64,
        /// First position to test
        #[arg(long, value_name = "NUMBER", default_value_t = 1)]
        first: u64,
        /// The system call that fails, and its error
        #[arg(long, value_name = "WHAT", default_value = "fsync")]
        call: FailingCall,
        #[command(flatten)]
        setting: Setting,
    },
    /// Fill the disk under load and free it again (needs root)
    Full {
        /// Number of times that the disk is filled
        #[arg(long, value_name = "NUMBER", default_value_t = 10)]
        rounds: u64,
        /// Size of the disk, in MiB
        #[arg(long, value_name = "MIB", default_value_t = 24, value_parser = clap::value_parser!(u64).range(8..))]
        size: u64,
        #[command(flatten)]
        setting: Setting,
    },
    /// Flip bytes in copies of a ledger
    Flip {
        /// Number of flips, each in its own copy of the ledger
        #[arg(long, value_name = "NUMBER", default_value_t = 1000)]
        rounds: u64,
        /// Percentage of the flips that are made in the write-ahead log instead of another file;
        /// SQLite may then ignore the end of the log without an error. The torture finds that data
        /// is missing and fails, unless --allow-cut is given
        #[arg(long, value_name = "PERCENT", default_value_t = 0, value_parser = clap::value_parser!(u8).range(..=100))]
        log_percent: u8,
        /// Accept flips that only SQLite's own integrity check finds
        #[arg(long)]
        allow_check: bool,
        /// Accept flips that make SQLite read the write-ahead log only up to the damage
        #[arg(long)]
        allow_cut: bool,
        /// Continue after a flip that is not allowed, and print each such flip
        #[arg(long)]
        keep_going: bool,
        #[command(flatten)]
        setting: Setting,
    },
    /// Attack the server over the loopback address, and check its memory and the response time of
    /// /healthz (needs 9,500 open files: `ulimit -n`)
    Attack {
        /// Attacks to run [default: all]
        #[arg(value_name = "CASE", value_parser = PossibleValuesParser::new(CASES.map(|case| case.name)))]
        cases: Vec<String>,
        /// Duration of each attack, in seconds
        #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(5..=600))]
        seconds: u64,
        /// Response time of /healthz that must stay below 50 ms
        #[arg(long, value_name = "FIGURE", default_value = "max")]
        health: HealthFigure,
        /// Serve the admin pages on the attacked listener in every case; by default, some cases
        /// serve them on a listener of their own
        #[arg(long)]
        shared_listener: bool,
        #[command(flatten)]
        setting: Setting,
    },
    /// Run all tortures of the ledger in a data folder: 1,000 kills, 300 power cuts and both
    /// controls, 200 failing fsyncs and 200 failing writes, 50 full disks, 1,000 flips in the
    /// ledger and 200 in its log (needs root and strace)
    All {
        /// Divide all numbers of rounds by this number, for a quick check that everything is
        /// installed
        #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
        divide_by: u64,
        #[command(flatten)]
        setting: Setting,
    },
}

impl Cli {
    /// Runs the torture and prints its summary.
    pub(crate) fn run(self, console: &mut Console<'_>) -> Result<()> {
        let mut summaries = Vec::new();
        let (done, json) = match self.torture {
            Torture::PgNode(args) => return pg::run_node(&args),
            Torture::Pg { case } => {
                (case.run(console).map(|summary| summaries.push(summary)), case.json())
            }
            Torture::OfFolder(torture) => {
                let setting = torture.setting().clone();
                setting.check()?;
                console.print(format_args!("seed {}", setting.seed))?;
                (torture.run(console, &mut summaries), setting.json)
            }
        };
        // The summaries of the tortures that have finished are printed even if a later torture
        // failed.
        for summary in &summaries {
            summary.write(console.out)?;
        }
        if let Some(file) = &json {
            let json: Vec<Value> = summaries.iter().map(Summary::json).collect();
            fs::write(file, format!("{:#}\n", Value::Array(json)))
                .with_context(|| format!("{} cannot be written", file.display()))?;
        }
        done
    }
}

impl FolderTorture {
    fn setting(&self) -> &Setting {
        match self {
            Self::Kill { setting, .. }
            | Self::Power { setting, .. }
            | Self::Fsync { setting, .. }
            | Self::Full { setting, .. }
            | Self::Flip { setting, .. }
            | Self::Attack { setting, .. }
            | Self::All { setting, .. } => setting,
        }
    }

    fn run(self, console: &mut Console<'_>, summaries: &mut Vec<Summary>) -> Result<()> {
        let summary = match self {
            Self::Kill { rounds, setting } => kill::run(&setting, rounds, console)?,
            Self::Power { rounds, filesystem, control, setting } => {
                let plan = power::Plan { rounds, file_system: filesystem, control };
                power::run(&setting, plan, console)?
            }
            Self::Fsync { rounds, first, call, setting } => {
                fsync::run(&setting, (call, first, rounds), console)?
            }
            Self::Full { rounds, size, setting } => full::run(&setting, (rounds, size), console)?,
            Self::Flip { rounds, log_percent, allow_check, allow_cut, keep_going, setting } => {
                let plan = flip::Plan { rounds, log_percent, allow_check, allow_cut, keep_going };
                flip::run(&setting, plan, console)?
            }
            Self::Attack { cases, seconds, health, shared_listener, setting } => {
                let is_listener_shared = shared_listener;
                let plan = attack::Plan { cases, seconds, health, is_listener_shared };
                return attack::run(&setting, &plan, console, summaries);
            }
            Self::All { divide_by, setting } => {
                return all(&setting, divide_by, console, summaries);
            }
        };
        summaries.push(summary);
        Ok(())
    }
}

/// Runs all tortures that the ledger must withstand before a release.
fn all(
    setting: &Setting,
    divide_by: u64,
    console: &mut Console<'_>,
    summaries: &mut Vec<Summary>,
) -> Result<()> {
    // A missing program must be reported before the first torture, not after an hour.
    for file_system in [FileSystem::Ext4, FileSystem::Xfs] {
        power::check(file_system, Some(Control::NoFsync))?;
    }
    fsync::check()?;
    full::check()?;
    let share = |rounds: u64| rounds.div_ceil(divide_by);
    // SQLite reads a damaged write-ahead log only up to the damage, as if the log ended there. No
    // check can distinguish a damaged log from a shorter one. So a flip in the log may cut off the
    // end of the log.
    for (rounds, log_percent, allow_cut) in [(1000, 0, false), (200, 100, true)] {
        let (rounds, allow_check, keep_going) = (share(rounds), false, false);
        let plan = flip::Plan { rounds, log_percent, allow_check, allow_cut, keep_going };
        summaries.push(flip::run(setting, plan, console)?);
    }
    let cuts = [
        (FileSystem::Ext4, None, 150),
        (FileSystem::Xfs, None, 150),
        (FileSystem::Ext4, Some(Control::Checkpoint), 20),
        (FileSystem::Ext4, Some(Control::NoFsync), 20),
    ];
    for (file_system, control, rounds) in cuts {
        let plan = power::Plan { rounds: share(rounds), file_system, control };
        summaries.push(power::run(setting, plan, console)?);
    }
    for failing in [FailingCall::Fsync, FailingCall::WriteFull, FailingCall::WriteBroken] {
        let positions = if failing == FailingCall::Fsync { 200 } else { 100 };
        summaries.push(fsync::run(setting, (failing, 1, share(positions)), console)?);
    }
    summaries.push(full::run(setting, (share(50), 24), console)?);
    summaries.push(kill::run(setting, share(1000), console)?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_control_is_the_checkpoint_one_unless_named() {
        let parsed = Cli::try_parse_from(["enrich-torture", "power", "--control"]).unwrap();
        let Torture::OfFolder(FolderTorture::Power { control, .. }) = parsed.torture else {
            panic!("not power")
        };
        assert_eq!(control, Some(Control::Checkpoint));
    }
}
