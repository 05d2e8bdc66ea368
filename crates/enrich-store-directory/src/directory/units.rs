//! Finds the parent company of a unit or subsidiary, for companies whose sources give no parent.

use enrich_core::Company;
use enrich_core::port::error::StoreError;
use enrich_core::resolution::parent_among;
use enrich_text::Domain;

use super::SqliteDirectory;
use super::codes::IdentifierKind;
use super::view::View;

/// Maximum number of companies that share a host. If more companies share it,
/// [`SqliteDirectory::derived_parent`] derives no parent.
const MAX_AT_HOST: usize = 64;

impl SqliteDirectory {
    /// Derives the parent of a company from its name and its main domain. Tries the host of the
    /// main domain first, and then the hosts above it, up to the registrable domain. Returns the
    /// parent that [`parent_among`] finds among the companies at a host. Returns `None` if it finds
    /// none at any host, or if more than 64 companies share a host. A parent that a source gives
    /// ([`Company::parent`]) is more certain than a derived one.
    ///
    /// # Errors
    ///
    /// When the directory cannot be read.
    pub fn derived_parent(&self, company: &Company) -> Result<Option<Company>, StoreError> {
        self.readers.read(|connection| derived_parent(View::of(connection), company))
    }
}

fn derived_parent(view: View<'_>, unit: &Company) -> rusqlite::Result<Option<Company>> {
    let Some(Ok(domain)) = unit.domain().map(Domain::parse) else { return Ok(None) };
    let registrable = domain.registrable();
    let mut host = domain.as_str();
    loop {
        let holders = view.holders(IdentifierKind::CompanyDomain, host, MAX_AT_HOST + 1)?;
        if holders.len() > MAX_AT_HOST {
            return Ok(None);
        }
        let mut at_host = Vec::new();
        for holder in holders.iter().filter(|holder| holder.subject != unit.id) {
            let company = view.company(holder.subject)?;
            at_host.extend(company.filter(|company| company.domain() == Some(host)));
        }
        if let Some(parent) = parent_among(unit, &at_host) {
            return Ok(Some(parent.clone()));
        }
        match host.split_once('.') {
            Some((_, above)) if host != registrable.as_str() => host = above,
            _ => return Ok(None),
        }
    }
}
