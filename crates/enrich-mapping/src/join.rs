//! Sources whose records are spread over several files.

use crate::error::MappingError;
use crate::node::Table;

/// How a record is gathered from the rows of several members of an archive.
///
/// A gathered record is an object: the key's value under `@key`, and for each member the rows with
/// this key, as a list under the member's name. There is a record for each row of the first member;
/// rows of other members without one are left out. Rows of all members are sorted by the key where
/// the publisher sorts them, but a reader must not rely on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Join {
    /// The members, the one that decides which records there are first.
    pub members: Vec<JoinMember>,
}

/// A member of an archive with rows of a joined source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JoinMember {
    /// The member's file name, such as `contact.csv`.
    pub file: String,
    /// The column with the key that is joined on.
    pub key: String,
    /// The name of the rows in the gathered record.
    pub name: String,
}

impl Join {
    pub(crate) fn read(table: &Table<'_, '_>) -> Result<Self, MappingError> {
        table.only(&["member"])?;
        let nodes = table.get("member").map_or(Vec::new(), |node| node.list());
        let mut members = Vec::new();
        for node in nodes {
            let member = node.table()?;
            member.only(&["file", "key", "name"])?;
            let text = |name| {
                member.text(name)?.ok_or_else(|| member.wrong("needs `file`, `key` and `name`"))
            };
            members.push(JoinMember {
                file: text("file")?,
                key: text("key")?,
                name: text("name")?,
            });
        }
        if members.is_empty() {
            return Err(table.wrong("needs at least one `[[join.member]]`"));
        }
        Ok(Self { members })
    }
}
