//! A database for one test, with the schema of Enrich.

use std::net::SocketAddr;

use enrich_secrets::{SECRET_FILE, Secrets};
use enrich_testkit::postgres::{Cluster, Database};

use crate::connect::Connector;
use crate::heartbeat::Heartbeat;
use crate::inspect::accept_loss;
use crate::node::{Node, Options};
use crate::runtime::Runtime;
use crate::store::migrate;

/// A database of one test, in the database server that all tests of this process share.
pub(crate) struct TestDatabase {
    cluster: &'static Cluster,
    database: Database,
    secrets: Secrets,
    runtime: Runtime,
}

impl TestDatabase {
    /// Creates a database with the schema; `None` if PostgreSQL is not installed.
    pub(crate) fn create() -> Option<Self> {
        let cluster = Cluster::for_tests()?;
        let folder = tempfile::tempdir().unwrap();
        let secrets = Secrets::create(&folder.path().join(SECRET_FILE)).unwrap();
        let database = cluster.fresh_database().unwrap();
        migrate(&database.url(), &secrets).unwrap();
        Some(Self { cluster, database, secrets, runtime: Runtime::start().unwrap() })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.cluster.address()
    }

    /// Opens a new node on the database. Like a node in another process, it shares nothing but the
    /// database with other nodes.
    pub(crate) fn node(&self) -> Node {
        self.node_at(self.address())
    }

    /// Opens a new node that connects to `address`: the address of the database server, or of a
    /// proxy in front of it.
    pub(crate) fn node_at(&self, address: SocketAddr) -> Node {
        let options = Options { accepts_one_copy: true, ..Options::default() };
        Node::open(&self.database.url_at(&[address]), &self.secrets, options).unwrap()
    }

    /// Opens a new node and starts its heartbeat.
    pub(crate) fn live_node(&self) -> (Node, Heartbeat) {
        let node = self.node();
        let heartbeat = Heartbeat::start(&node).unwrap();
        (node, heartbeat)
    }

    /// Calls `accept_loss`, as an operator does after the database has lost ledger rows that nodes
    /// had already read.
    pub(crate) fn accept_loss(&self) {
        accept_loss(&self.database.url(), &self.secrets).unwrap();
    }

    /// Closes all connections to the database and refuses new ones.
    pub(crate) fn close(&self) {
        self.set_accepting(false);
        let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = ";
        self.cluster.psql(&format!("{end} '{}'", self.database.name())).unwrap();
    }

    /// Makes the database accept connections again, after `close`.
    pub(crate) fn reopen(&self) {
        self.set_accepting(true);
    }

    fn set_accepting(&self, accepting: bool) {
        let name = self.database.name();
        self.cluster.psql(&format!("ALTER DATABASE {name} ALLOW_CONNECTIONS {accepting}")).unwrap();
    }

    /// Runs statements without parameters.
    pub(crate) fn execute(&self, statements: &str) {
        let statements = statements.to_owned();
        let connector = Connector::new(&self.database.url()).unwrap();
        let running = async move {
            let connection = connector.connect().await.unwrap();
            connection.client.batch_execute(&statements).await.unwrap();
        };
        self.runtime.block_on(running).unwrap();
    }

    pub(crate) fn number(&self, query: &'static str) -> i64 {
        let connector = Connector::new(&self.database.url()).unwrap();
        let reading = async move {
            let connection = connector.connect().await.unwrap();
            connection.client.query_typed(query, &[]).await.unwrap()[0].get(0)
        };
        self.runtime.block_on(reading).unwrap()
    }
}
