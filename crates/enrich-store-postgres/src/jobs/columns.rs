//! Converts the columns of a job's row.

use enrich_core::AccountId;
use enrich_core::port::jobs::{JobLease, JobPhase, JobRow};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::columns::{unreadable, unsigned};
use crate::failure::Failure;

/// The phases of a job, each with the text that the table `job` contains.
const PHASES: [(JobPhase, &str); 5] = [
    (JobPhase::Idle, "idle"),
    (JobPhase::Waiting, "waiting"),
    (JobPhase::Running, "running"),
    (JobPhase::Stopping, "stopping"),
    (JobPhase::Removing, "removing"),
];

pub(super) fn phase_column(phase: JobPhase) -> &'static str {
    let found = PHASES.iter().find(|(known, _)| *known == phase);
    found.map_or("", |(_, column)| column)
}

pub(super) fn phase_of(column: &str) -> Result<JobPhase, Failure> {
    let found = PHASES.iter().find(|(_, known)| *known == column);
    found.map(|(phase, _)| *phase).ok_or_else(|| unreadable("the phase of a job"))
}

/// Reads a job from a row with these columns: id, account, phase, turn, lease, record and progress.
pub(super) fn read_job(row: &Row) -> Result<JobRow, Failure> {
    Ok(JobRow {
        id: row.try_get::<_, Uuid>(0)?.as_u128(),
        account: AccountId(row.try_get(1)?),
        phase: phase_of(row.try_get(2)?)?,
        turn: unsigned(row.try_get(3)?)?,
        lease: match row.try_get(4)? {
            "free" => JobLease::Free,
            "held" => JobLease::Held,
            _ => JobLease::Expired,
        },
        record: row.try_get(5)?,
        progress: row.try_get(6)?,
    })
}
