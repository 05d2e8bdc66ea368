//! Starts real PostgreSQL clusters (14 or newer) and pgbouncer for tests, with the installed
//! programs.
//!
//! ```no_run
//! # fn main() -> std::io::Result<()> {
//! use enrich_testkit::postgres::Cluster;
//!
//! // Prints that the test is skipped, if PostgreSQL is not installed.
//! let Some(cluster) = Cluster::for_tests() else { return Ok(()) };
//! let url = cluster.fresh_database()?.url();
//! # Ok(())
//! # }
//! ```
//!
//! If the test runs as root, the servers run as an unprivileged user. No server outlives the test.

mod cluster;
mod guarded_process;
mod installation;
mod lifecycle;
mod login;
mod pgbouncer;
mod standby;
mod template;

pub use cluster::{Cluster, ClusterOptions, Durability};
pub use installation::{skip_without_pgbouncer, skip_without_postgres};
pub use login::Database;
pub use pgbouncer::PgBouncer;
