//! The roles of a PostgreSQL cluster for tests, and its databases. The URL of a database contains
//! the name of a role and its password. All roles of a cluster have the same password.

use std::net::SocketAddr;

/// The role that tests use. It owns the databases and is not a superuser.
pub(super) const OWNER: &str = "enrich";
/// The superuser: the role that has all rights.
pub(super) const SUPERUSER: &str = "postgres";
/// The database that every cluster has.
pub(super) const DATABASE: &str = "enrich";

/// A database of a cluster.
#[derive(Clone, Debug)]
pub struct Database {
    name: String,
    address: SocketAddr,
    password: String,
}

impl Database {
    pub(super) fn new(name: String, address: SocketAddr, password: String) -> Self {
        Self { name, address, password }
    }

    /// Returns the name of the database.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the URL of the database: `postgres://enrich:PASSWORD@127.0.0.1:PORT/NAME`.
    pub fn url(&self) -> String {
        self.url_at(&[self.address])
    }

    /// Returns the URL of the database with other addresses than the cluster's: the address of a
    /// proxy or of pgbouncer, or the addresses of several clusters.
    pub fn url_at(&self, addresses: &[SocketAddr]) -> String {
        url(OWNER, &self.password, addresses, &self.name)
    }

    /// Returns the URL of the database for the superuser, the role `postgres`.
    pub fn superuser_url(&self) -> String {
        url(SUPERUSER, &self.password, &[self.address], &self.name)
    }
}

fn url(role: &str, password: &str, addresses: &[SocketAddr], database: &str) -> String {
    let hosts: Vec<String> = addresses.iter().map(SocketAddr::to_string).collect();
    format!("postgres://{role}:{password}@{}/{database}", hosts.join(","))
}
