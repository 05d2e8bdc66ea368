//! Contract tests of the list of snapshots (copies of the look-up data) and of the list of
//! suppressions (values that no answer may contain). Every store of these lists must pass the
//! tests.

use std::time::{Duration, Instant};

use enrich_core::port::snapshots::{
    Snapshot, SnapshotNumber, SnapshotState, Snapshots, Suppression,
};
use enrich_core::{DirectoryRevision, Timestamp};

/// Time limit for a store to notice a change.
const PATIENCE: Duration = Duration::from_secs(10);

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_790_000_000 + second).unwrap()
}

fn snapshot(number: u64) -> Snapshot {
    Snapshot {
        number: SnapshotNumber(number),
        revision: DirectoryRevision(10 * number),
        bytes: 4096 * number,
        blake3: [u8::try_from(number).unwrap(); 32],
        location: "/srv/snapshots".to_owned(),
        schema: 3,
        derived_by: 1,
        at: at(i64::try_from(number).unwrap()),
    }
}

fn wait_for(snapshots: &dyn Snapshots, in_use: Option<u64>, suppression: u64) {
    let expected = SnapshotState { in_use: in_use.map(SnapshotNumber), suppression };
    let begun = Instant::now();
    while snapshots.state() != expected {
        assert!(begun.elapsed() < PATIENCE, "{:?}, not {expected:?}", snapshots.state());
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Checks that a store's list of snapshots behaves as [`Snapshots`] says. The list must be empty at
/// the beginning.
pub async fn a_list_of_snapshots(snapshots: &dyn Snapshots) {
    assert_eq!(snapshots.state(), SnapshotState::default());
    assert_eq!(snapshots.find(SnapshotNumber(1)).await.unwrap(), None);
    assert!(snapshots.newest(10).await.unwrap().is_empty());
    assert!(!snapshots.answer_from(SnapshotNumber(1)).await.unwrap());

    for number in [1, 2, 4] {
        assert!(snapshots.publish(&snapshot(number)).await.unwrap(), "{number}");
        assert!(snapshots.publish(&snapshot(number)).await.unwrap(), "{number} again");
    }
    wait_for(snapshots, Some(4), 0);
    assert_eq!(snapshots.find(SnapshotNumber(2)).await.unwrap(), Some(snapshot(2)));
    assert_eq!(snapshots.newest(2).await.unwrap(), [snapshot(4), snapshot(2)]);

    // A snapshot is refused if the list already has a snapshot with a higher number, or another
    // snapshot with the same number.
    let other = Snapshot { bytes: 1, ..snapshot(4) };
    assert!(!snapshots.publish(&other).await.unwrap());
    assert!(!snapshots.publish(&snapshot(3)).await.unwrap());
    assert_eq!(snapshots.newest(10).await.unwrap().len(), 3);

    assert!(snapshots.answer_from(SnapshotNumber(1)).await.unwrap());
    wait_for(snapshots, Some(1), 0);
    assert!(!snapshots.answer_from(SnapshotNumber(3)).await.unwrap());
    // An operator has chosen an old snapshot. When a new snapshot is published, nodes answer from
    // the new one.
    assert!(snapshots.publish(&snapshot(5)).await.unwrap());
    wait_for(snapshots, Some(5), 0);
}

/// Checks that a store's list of suppressions (values that no answer may contain) behaves as
/// [`Snapshots`] says. The list must be empty at the beginning.
pub async fn a_list_of_suppressions(snapshots: &dyn Snapshots) {
    assert!(snapshots.suppressed_after(0, 10).await.unwrap().is_empty());
    snapshots.suppress(&[], at(0)).await.unwrap();
    snapshots.suppress(&[[1; 32], [2; 32], [1; 32]], at(1)).await.unwrap();
    wait_for(snapshots, snapshots.state().in_use.map(|number| number.0), 2);
    snapshots.suppress(&[[3; 32], [2; 32]], at(2)).await.unwrap();
    wait_for(snapshots, snapshots.state().in_use.map(|number| number.0), 3);
    let suppression =
        |number: u64, at| Suppression { number, hash: [u8::try_from(number).unwrap(); 32], at };
    let all = [suppression(1, at(1)), suppression(2, at(1)), suppression(3, at(2))];
    assert_eq!(snapshots.suppressed_after(0, 10).await.unwrap(), all);
    assert_eq!(snapshots.suppressed_after(0, 2).await.unwrap(), all[..2]);
    assert_eq!(snapshots.suppressed_after(2, 10).await.unwrap(), all[2..]);
    assert!(snapshots.suppressed_after(3, 10).await.unwrap().is_empty());
}
