//! Finds external ids that several companies have.
//!
//! For example, company A has the id 1, and company B has the id 2. Then a record with both ids is
//! imported. Entity resolution does not unite two different companies, but adds the record to only
//! one of them, for example to A. Then both companies have the id 2.

use enrich_store_sqlite::Statements;
use rusqlite::Connection;

use super::codes::IdentifierKind;
use super::view::View;

/// Maximum number of shared ids that are described.
const MAX_IDS: usize = 20;
/// Maximum number of companies that are named for one id.
const MAX_NAMED: usize = 5;

/// Describes the external ids that several companies have, one text for each id, in the order of
/// the ids.
pub(crate) fn shared_ids(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let kind = IdentifierKind::CompanyId;
    let shared = "SELECT key, count(*) FROM identifier WHERE kind = ?1 GROUP BY key
                  HAVING count(*) > 1 ORDER BY key LIMIT 20";
    let shared: Vec<(String, usize)> =
        connection.list(shared, [kind], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let view = View::of(connection);
    let describe = |(id, number): (String, usize)| {
        let mut names = Vec::new();
        for holder in view.holders(kind, &id, MAX_NAMED)? {
            names.extend(view.company(holder.subject)?.map(|company| company.name));
        }
        if number > names.len() {
            names.push("…".to_owned());
        }
        Ok(format!("{number} companies have the id {id}: {}", names.join(", ")))
    };
    shared.into_iter().take(MAX_IDS).map(describe).collect()
}
