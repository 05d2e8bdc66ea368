//! Public mail hosts. An email address at such a host does not show who the employer is.

use std::collections::HashSet;
use std::sync::LazyLock;

use crate::domain::Domain;
use crate::table;

static PUBLIC_MAIL_HOSTS: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    table::rows(include_str!("../data/public_mail_hosts.txt")).map(|[host]| host).collect()
});

/// Whether anybody can get an email address at this domain, or at its registrable domain.
pub fn is_public_mail_host(domain: &Domain) -> bool {
    PUBLIC_MAIL_HOSTS.contains(domain.as_str())
        || PUBLIC_MAIL_HOSTS.contains(domain.registrable().as_str())
}
