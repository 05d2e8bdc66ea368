//! The metrics of a node (a server that uses the PostgreSQL database): how its ledger uses the
//! database, and from which snapshot (published copy of the look-up data) it answers.

use enrich_core::{Clock as _, Timestamp};
use enrich_server::SampledMetric as Metric;
use enrich_snapshot::SnapshotStatus;
use enrich_store::SystemClock;
use enrich_store_postgres::{Doubts, LaneCounts, PathCounts, Store};

/// Returns the metrics of a node. `snapshot` is `None` if the node answers from the look-up data in
/// its own folder.
pub(crate) fn metrics(store: &Store, snapshot: Option<SnapshotStatus>) -> Vec<Metric> {
    let now = SystemClock.now();
    let mut metrics = lanes(store.ledger.lane_counts());
    metrics.push(doubts(store.ledger.doubts()));
    metrics.extend([
        Metric::gauge(
            "enrich_store_silence_seconds",
            "Seconds since the database was last read.",
            store.silence().as_secs_f64(),
        ),
        Metric::gauge(
            "enrich_store_clock_skew_seconds",
            "Seconds by which this node's clock is ahead of the database's.",
            store.skew(now).as_secs_f64(),
        ),
        Metric::gauge(
            "enrich_store_nodes",
            "Nodes that were alive in the last seconds.",
            store.live_nodes().into(),
        ),
    ]);
    metrics.extend(snapshot.map(|status| snapshots(&status, now)).into_iter().flatten());
    metrics
}

fn lanes(counts: LaneCounts) -> Vec<Metric> {
    let LaneCounts { compared, read, locked, conflicts, waited, waiting } = counts;
    let by_path = |name, help, of: fn(PathCounts) -> f64| {
        let paths = [("compared", of(compared)), ("read", of(read)), ("locked", of(locked))];
        Metric::counters(name, help, "path", paths)
    };
    vec![
        by_path(
            "enrich_charge_groups_total",
            "Groups of charges and grants that were sent to the database.",
            |path| path.groups as f64,
        ),
        by_path(
            "enrich_grouped_charges_total",
            "Charges and grants that groups have decided.",
            |path| path.jobs as f64,
        ),
        by_path(
            "enrich_charge_group_seconds_total",
            "Seconds that groups took at the database.",
            |path| path.took.as_secs_f64(),
        ),
        Metric::counter(
            "enrich_charge_conflicts_total",
            "Accounts left out of a group because another node was charging them.",
            conflicts as f64,
        ),
        Metric::counter(
            "enrich_charge_wait_seconds_total",
            "Seconds that charges and grants waited for their group.",
            waited.as_secs_f64(),
        ),
        Metric::gauge(
            "enrich_charge_queue",
            "Charges and grants that wait for a group.",
            waiting as f64,
        ),
    ]
}

fn doubts(doubts: Doubts) -> Metric {
    let Doubts { taken, replayed, refused, unknown } = doubts;
    Metric::counters(
        "enrich_charge_doubts_total",
        "Charges and grants whose first reply was lost, by how they ended.",
        "outcome",
        [
            ("taken", taken as f64),
            ("replayed", replayed as f64),
            ("refused", refused as f64),
            ("unknown", unknown as f64),
        ],
    )
}

fn snapshots(status: &SnapshotStatus, now: Timestamp) -> Vec<Metric> {
    let SnapshotStatus { live, at, swaps, refusals, in_use, .. } = status;
    vec![
        Metric::gauge(
            "enrich_snapshot_live",
            "The number of the snapshot from which this node answers.",
            live.0 as f64,
        ),
        Metric::gauge(
            "enrich_snapshot_in_use",
            "The number of the snapshot from which all nodes are to answer.",
            in_use.map_or(f64::NAN, |number| number.0 as f64),
        ),
        Metric::gauge(
            "enrich_snapshot_age_seconds",
            "Seconds since the snapshot of this node was copied from the imported data.",
            now.duration_since(*at).as_secs_f64(),
        ),
        Metric::counter(
            "enrich_snapshot_swaps_total",
            "Changes of this node to another snapshot.",
            *swaps as f64,
        ),
        Metric::counter(
            "enrich_snapshot_refusals_total",
            "Attempts to use a snapshot that failed.",
            *refusals as f64,
        ),
    ]
}
