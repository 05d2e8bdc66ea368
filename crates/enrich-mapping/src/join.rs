//! Joins rows of several files into records, for sources that spread each record over several
//! files.

use crate::error::MappingError;
use crate::node::Table;

/// How a record is joined from the rows of several members (files) of an archive. Each row has a
/// key. Rows with the same key belong to the same record.
///
/// A joined record is an object with the key under `@key`. For each member, it has a list of the
/// member's rows with this key, under the member's [`name`](JoinMember::name). An example with the
/// single member `contact` is `{"@key":"7","contact":[{"id":"7","phone":"5550100"}]}`.
///
/// There is one record for each key in the first member. A row is left out if its key is not in the
/// first member. A reader must not rely on the order of the rows, although some publishers sort
/// them by the key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Join {
    /// The files of the archive whose rows are joined. There is one record for each key in the
    /// first file.
    pub members: Vec<JoinMember>,
}

/// A member of an archive whose rows are joined with the rows of the other members.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JoinMember {
    /// The member's file name, such as `contact.csv`.
    pub file: String,
    /// The column with the key by which rows are joined.
    pub key: String,
    /// The name under which the joined record contains the member's rows.
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
