//! Tests of publishing a snapshot.

use std::fs;
use std::thread;

use enrich_core::port::directory::Directory;
use enrich_core::port::snapshots::{SnapshotNumber, Snapshots};
use enrich_snapshot::SnapshotError;
use pollster::block_on;

use crate::world::{World, checks, names_in};

#[test]
fn a_directory_is_published_with_what_it_says_of_itself() {
    let world = World::new();
    world.import_company("quill");
    let snapshot = world.publish();
    assert_eq!(snapshot.number, SnapshotNumber(1));
    assert_eq!(snapshot.revision, block_on(world.builder.directory.revision()).unwrap());
    assert_eq!(world.list.state().in_use, Some(SnapshotNumber(1)));
    assert_eq!(block_on(world.list.newest(9)).unwrap(), [snapshot]);
    assert_eq!(names_in(&world.location()), ["directory-1.sqlite.zst", "publish.lock"]);
    // The unfinished copy was removed; only the lock file remains in the data folder.
    assert_eq!(names_in(&world.data().join(enrich_snapshot::SNAPSHOTS)), ["snapshots.lock"]);
}

#[test]
fn two_at_once_publish_one_after_the_other() {
    let world = World::new();
    world.import_company("quill");
    let (one, other) = thread::scope(|scope| {
        let publishing = [(); 2].map(|()| scope.spawn(|| world.publish().number.0));
        let [one, other] = publishing.map(|it| it.join().unwrap());
        (one.min(other), one.max(other))
    });
    assert_eq!((one, other), (1, 2));
    assert_eq!(world.list.state().in_use, Some(SnapshotNumber(2)));
    assert!(world.published_file(1).exists() && world.published_file(2).exists());
}

#[test]
fn a_number_whose_file_is_there_without_a_row_is_left_out() {
    let world = World::new();
    fs::write(world.published_file(1), "of a publication that ended early").unwrap();
    fs::write(world.location().join("unfinished.sqlite.zst"), "so is this").unwrap();
    assert_eq!(world.publish().number, SnapshotNumber(2));
    assert_eq!(world.node("node").live(), 2);
}

#[test]
fn a_directory_with_another_secret_than_the_stores_is_refused() {
    let world = World::new();
    let other = World::new();
    assert_ne!(*world.list.secrets.lock(), checks(&other.secrets()));
    let from = enrich_snapshot::PublishFrom {
        data: other.data(),
        location: world.location(),
        at: enrich_core::Timestamp::UNIX_EPOCH,
    };
    let error = enrich_snapshot::publish(&*world.list, &from).unwrap_err();
    assert!(matches!(error, SnapshotError::StoreSecret(1)), "{error}");
    assert_eq!(world.list.state().in_use, None);
    assert!(names_in(&world.location()).is_empty());
}

#[test]
fn a_location_that_is_not_there_is_an_error_that_names_it() {
    let world = World::new();
    fs::remove_dir(world.location()).unwrap();
    let error = world.try_publish().unwrap_err();
    assert!(error.to_string().contains("location"), "{error}");
}
