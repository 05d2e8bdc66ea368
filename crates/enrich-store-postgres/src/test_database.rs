//! A database for one test, with the schema and its secrets.

use enrich_core::{KeyId, Timestamp};
use enrich_secrets::{SECRET_FILE, Secrets};

use crate::connect::Connector;
use crate::heartbeat::Heartbeat;
use crate::runtime::Runtime;
use crate::store::{Node, Options, migrate};

/// The server of the tests.
const SERVER: &str = "postgres://postgres@127.0.0.1:5499";

/// A database that is dropped at the end.
pub(crate) struct TestDatabase {
    name: String,
    secrets: Secrets,
    runtime: Runtime,
}

impl TestDatabase {
    /// An empty one.
    pub(crate) fn create() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let secrets = Secrets::create(&folder.path().join(SECRET_FILE)).unwrap();
        let name = format!("test_{}", KeyId::new(Timestamp::MAX).0.simple());
        let created = Self { name, secrets, runtime: Runtime::start().unwrap() };
        created.at_server(format!("CREATE DATABASE {}", created.name));
        migrate(&created.url(), &created.secrets).unwrap();
        created
    }

    fn url(&self) -> String {
        format!("{SERVER}/{}", self.name)
    }

    /// A node of its own, as another process would be.
    pub(crate) fn node(&self) -> Node {
        let options = Options { accepts_one_copy: true, ..Options::default() };
        Node::open(&self.url(), &self.secrets, options).unwrap()
    }

    /// A node with its heartbeat.
    pub(crate) fn live_node(&self) -> (Node, Heartbeat) {
        let node = self.node();
        let heartbeat = Heartbeat::start(&node).unwrap();
        (node, heartbeat)
    }

    /// Runs statements without values.
    pub(crate) fn execute(&self, statements: &str) {
        self.run(self.url(), statements.to_owned());
    }

    /// The number that a query returns.
    pub(crate) fn number(&self, query: &'static str) -> i64 {
        let connector = Connector::new(&self.url()).unwrap();
        let reading = async move {
            let connection = connector.connect().await.unwrap();
            connection.client.query_typed(query, &[]).await.unwrap()[0].get(0)
        };
        self.runtime.block_on(reading).unwrap()
    }

    /// Ends all connections and refuses new ones.
    pub(crate) fn close(&self) {
        let name = &self.name;
        self.at_server(format!(
            "ALTER DATABASE {name} ALLOW_CONNECTIONS false;
             SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"
        ));
    }

    /// Accepts connections again.
    pub(crate) fn reopen(&self) {
        self.at_server(format!("ALTER DATABASE {} ALLOW_CONNECTIONS true", self.name));
    }

    fn at_server(&self, statements: String) {
        self.run(format!("{SERVER}/postgres"), statements);
    }

    fn run(&self, url: String, statements: String) {
        let connector = Connector::new(&url).unwrap();
        let running = async move {
            let connection = connector.connect().await.unwrap();
            connection.client.batch_execute(&statements).await.unwrap();
        };
        self.runtime.block_on(running).unwrap();
    }
}

impl Drop for TestDatabase {
    fn drop(&mut self) {
        self.at_server(format!("DROP DATABASE {} WITH (FORCE)", self.name));
    }
}
