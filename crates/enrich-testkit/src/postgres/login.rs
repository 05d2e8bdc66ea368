//! The roles of a cluster, and URLs with their password.

use std::net::SocketAddr;

/// The role of the tests: owner of the databases, no superuser.
pub(super) const OWNER: &str = "enrich";
/// The role with all rights.
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

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// `postgres://enrich:PASSWORD@127.0.0.1:PORT/NAME`.
    pub fn url(&self) -> String {
        self.url_at(&[self.address])
    }

    /// The same URL with other addresses: those of a proxy, of pgbouncer, or of several clusters.
    pub fn url_at(&self, addresses: &[SocketAddr]) -> String {
        url(OWNER, &self.password, addresses, &self.name)
    }

    /// The URL with the role that has all rights.
    pub fn superuser_url(&self) -> String {
        url(SUPERUSER, &self.password, &[self.address], &self.name)
    }
}

fn url(role: &str, password: &str, addresses: &[SocketAddr], database: &str) -> String {
    let hosts: Vec<String> = addresses.iter().map(SocketAddr::to_string).collect();
    format!("postgres://{role}:{password}@{}/{database}", hosts.join(","))
}
