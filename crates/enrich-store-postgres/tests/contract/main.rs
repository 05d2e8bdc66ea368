//! Runs the contract suite (the tests that every store passes) with the PostgreSQL store. Nodes
//! connect to PostgreSQL directly, and through pgbouncer in transaction mode.

#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod copy;
mod nodes;
mod outages;
mod pgbouncer;

use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use enrich_core::port::snapshots::Snapshots;
use enrich_secrets::Secrets;
use enrich_store_postgres::{Options, Store};
use enrich_testkit::contract::{Harness, Ports};
use enrich_testkit::postgres::{
    Cluster, Database, PgBouncer, skip_without_pgbouncer, skip_without_postgres,
};
use tempfile::TempDir;

/// How nodes connect to PostgreSQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Route {
    /// Nodes connect to PostgreSQL itself.
    Direct,
    /// Nodes connect to pgbouncer in transaction mode.
    PgBouncer,
}

/// A new database for the store, and a temporary folder for the directory (the look-up data).
struct Postgres {
    database: Database,
    /// The addresses at which nodes reach the database.
    addresses: Vec<SocketAddr>,
    folder: enrich_store::Store,
    secrets: Secrets,
    _folder: TempDir,
}

/// Gives a new PostgreSQL store to each test of the contract suite. The database is created when
/// the test first asks for the store.
struct Opened {
    route: Route,
    postgres: OnceLock<Postgres>,
}

impl Route {
    /// Whether the tests of this route must be skipped because a program is not installed. Prints
    /// the reason.
    fn is_missing(self) -> bool {
        skip_without_postgres() || self == Self::PgBouncer && skip_without_pgbouncer()
    }

    /// Returns the address at which nodes reach `cluster`, the database server that all tests
    /// share.
    fn address(self, cluster: &Cluster) -> SocketAddr {
        static BOUNCER: OnceLock<PgBouncer> = OnceLock::new();
        match self {
            Self::Direct => cluster.address(),
            Self::PgBouncer => {
                let start = || PgBouncer::start(cluster, cluster.address()).unwrap().unwrap();
                BOUNCER.get_or_init(start).address()
            }
        }
    }
}

impl Postgres {
    /// Creates a new database; `None` if PostgreSQL or a needed pgbouncer is not installed.
    fn by(route: Route) -> Option<Self> {
        if route.is_missing() {
            return None;
        }
        let cluster = Cluster::for_tests()?;
        let database = cluster.fresh_database().unwrap();
        Some(Self::in_database(database, vec![route.address(cluster)]))
    }

    /// Creates the schema through a direct connection, as operators do. Nodes connect to
    /// `addresses`.
    fn in_database(database: Database, addresses: Vec<SocketAddr>) -> Self {
        let path = tempfile::tempdir().unwrap();
        let folder = enrich_store::Store::open_or_create(path.path()).unwrap();
        let secrets = Secrets::load(&path.path().join(enrich_secrets::SECRET_FILE)).unwrap();
        enrich_store_postgres::migrate(&database.url(), &secrets).unwrap();
        Self { database, addresses, folder, secrets, _folder: path }
    }

    /// Opens the store as a new node.
    fn store(&self) -> Store {
        self.store_with(Options::default())
    }

    fn store_with(&self, options: Options) -> Store {
        let options = Options { accepts_one_copy: true, ..options };
        Store::open(&self.database.url_at(&self.addresses), &self.secrets, options).unwrap()
    }

    fn open_with(&self, options: Options) -> Ports {
        let store = self.store_with(options);
        Ports {
            accounts: Arc::clone(&store.accounts) as _,
            ledger: Arc::clone(&store.ledger) as _,
            sign_ins: Arc::clone(&store.sign_ins) as _,
            usage: Arc::clone(&store.usage) as _,
            directory: Arc::clone(&self.folder.directory) as _,
            importer: Arc::clone(&self.folder.importer) as _,
        }
    }
}

impl Opened {
    fn by(route: Route) -> Self {
        Self { route, postgres: OnceLock::new() }
    }

    fn open_with(&self, options: Options) -> Ports {
        self.postgres.get_or_init(|| Postgres::by(self.route).unwrap()).open_with(options)
    }
}

#[async_trait]
impl Harness for Opened {
    async fn fresh(&self) -> Ports {
        self.open_with(Options::default())
    }

    async fn fresh_keeping(&self, max_idempotency_records: u64) -> Ports {
        self.open_with(Options { max_idempotency_records, ..Options::default() })
    }

    async fn reopen(&self, ports: Ports) -> Ports {
        drop(ports);
        self.open_with(Options::default())
    }
}

fn with_snapshots(route: Route, test: impl AsyncFnOnce(&dyn Snapshots)) {
    if let Some(postgres) = Postgres::by(route) {
        pollster::block_on(test(&*postgres.store().snapshots));
    }
}

/// Generates a test for each listed function of the module `nodes`.
macro_rules! of_nodes {
    ($route:expr, [$($sentence:ident),+ $(,)?]) => {
        mod nodes {
            use super::*;

            $(
                #[test]
                fn $sentence() {
                    crate::nodes::$sentence($route);
                }
            )+
        }
    };
}

/// Generates a module that runs all tests of the contract suite over one route: directly, or
/// through pgbouncer.
macro_rules! suites {
    ($module:ident, $route:expr) => {
        mod $module {
            use enrich_testkit::contract::snapshots as lists;

            use super::*;

            /// Runs a test. Skips it if a program is not installed.
            fn run(test: impl Future<Output = ()>) {
                if !$route.is_missing() {
                    pollster::block_on(test);
                }
            }

            enrich_testkit::accounts_contract!(Opened::by($route), run);
            enrich_testkit::sign_ins_contract!(Opened::by($route), run);
            enrich_testkit::ledger_contract!(Opened::by($route), run);
            enrich_testkit::usage_contract!(Opened::by($route), run);
            of_nodes!(
                $route,
                [
                    the_last_credits_asked_of_three_nodes_are_given_to_the_credit,
                    a_key_used_on_three_nodes_at_once_is_charged_once,
                    grants_and_charges_of_three_nodes_add_up,
                    a_new_key_is_accepted_at_once_and_a_revoked_one_for_a_second_at_most,
                ]
            );

            #[test]
            fn a_ledger_is_copied() {
                copy::a_ledger_is_the_same_after_the_way_to_the_database_and_back($route);
            }

            #[test]
            fn snapshots_are_listed() {
                with_snapshots($route, lists::a_list_of_snapshots);
            }

            #[test]
            fn suppressions_are_listed() {
                with_snapshots($route, lists::a_list_of_suppressions);
            }
        }
    };
}

suites!(direct, Route::Direct);
suites!(through_pgbouncer, Route::PgBouncer);
