//! Stores which uploaded lists are in the local folders of nodes. Other nodes cannot read these
//! folders.

use enrich_core::AccountId;
use enrich_core::port::error::StoreError;
use enrich_core::port::jobs::{LocalJob, RemoteJob};
use tokio_postgres::Row;
use tokio_postgres::types::Type;
use uuid::Uuid;

use crate::columns::Value;
use crate::failure::Failure;
use crate::node::Node;
use crate::statements::{list, run, write_and_settle};

const GONE: &str = "DELETE FROM local_job WHERE folder = $1 AND NOT id = ANY($2)";
const THERE: &str = "INSERT INTO local_job (folder, id, account, summary, node, seen_at)
    SELECT $1, new.id, new.account, new.summary, $5, clock_timestamp()
    FROM unnest($2::uuid[], $3::uuid[], $4::text[]) AS new (id, account, summary)
    ON CONFLICT (folder, id) DO UPDATE
    SET summary = excluded.summary, node = excluded.node, seen_at = excluded.seen_at";
const ELSEWHERE: &str = "SELECT id, summary, node FROM local_job
    WHERE account = $1 AND folder <> $2 ORDER BY id";

pub(super) async fn announce(
    node: &Node,
    folder: u128,
    jobs: Vec<LocalJob>,
) -> Result<(), StoreError> {
    let (folder, name) = (Uuid::from_u128(folder), node.options.node.clone());
    write_and_settle(&node.database, move |client| {
        let (jobs, name) = (jobs.clone(), name.clone());
        Box::pin(async move {
            let ids: Vec<Uuid> = jobs.iter().map(|job| Uuid::from_u128(job.id)).collect();
            let accounts: Vec<Uuid> = jobs.iter().map(|job| job.account.0).collect();
            let summaries: Vec<&str> = jobs.iter().map(|job| job.summary.as_str()).collect();
            run(client, GONE, &[(&folder, Type::UUID), (&ids, Type::UUID_ARRAY)]).await?;
            let values: [Value<'_>; 5] = [
                (&folder, Type::UUID),
                (&ids, Type::UUID_ARRAY),
                (&accounts, Type::UUID_ARRAY),
                (&summaries, Type::TEXT_ARRAY),
                (&name, Type::TEXT),
            ];
            run(client, THERE, &values).await.map(drop)
        })
    })
    .await
}

/// Returns an account's lists in the local folders of other nodes. `folder` is the id of this
/// node's own folder, whose lists are left out; `None` if this node has no folder.
pub(super) async fn elsewhere(
    node: &Node,
    account: AccountId,
    folder: Option<u128>,
) -> Result<Vec<RemoteJob>, StoreError> {
    // The query leaves out the lists in `folder`. `None` becomes the nil id (0), which no folder
    // has, so that the query leaves out nothing.
    let folder = Uuid::from_u128(folder.unwrap_or_default());
    let read = move |row: &Row| -> Result<RemoteJob, Failure> {
        let id = row.try_get::<_, Uuid>(0)?.as_u128();
        let job = LocalJob { id, account, summary: row.try_get(1)? };
        Ok(RemoteJob { job, node: row.try_get(2)? })
    };
    node.database
        .read(move |client| {
            Box::pin(async move {
                let values: [Value<'_>; 2] = [(&account.0, Type::UUID), (&folder, Type::UUID)];
                list(client, ELSEWHERE, &values, read).await
            })
        })
        .await
}
