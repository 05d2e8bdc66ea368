//! Tests of the torture that flips bits in a ledger. One test makes all kinds of damage, because it
//! takes a while to create a ledger. Each damage is made in a separate copy of the ledger.

use super::*;

const UNHARMED: FlipResult =
    FlipResult::Harmless { is_kept_lost: false, is_used_otherwise: false, charge_refused: false };

fn look_at(
    original: &Original,
    in_log: bool,
    spoil: impl FnOnce(&mut Vec<u8>, &mut Vec<u8>),
) -> FlipResult {
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("copy");
    original.copy_to(&copy, spoil).unwrap();
    examine_copy(original, in_log, &copy).unwrap()
}

/// Flips a bit in every occurrence of `wanted`. There may be several occurrences: if SQLite has
/// split a database page, the page may still contain old copies of the rows that were moved to
/// another page.
fn spoil_all(bytes: &mut [u8], wanted: &[u8]) {
    let counts = |at: &usize| bytes[*at..].starts_with(wanted);
    let places: Vec<usize> = (0..bytes.len()).filter(counts).collect();
    places.into_iter().for_each(|at| bytes[at] ^= 1);
}

fn copy_with(original: &Original, change: &str) -> FlipResult {
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("copy");
    original.copy_to(&copy, |_, _| {}).unwrap();
    let connection = rusqlite::Connection::open(copy.join(aim::LEDGER)).unwrap();
    assert!(connection.execute(change, []).unwrap() > 0, "{change} changes nothing");
    drop(connection);
    examine_copy(original, false, &copy).unwrap()
}

#[test]
fn what_becomes_of_a_ledger_is_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let mut closed = Original::closed(&folder.path().join("closed")).unwrap();
    let mut died = Original::died(&closed, &folder.path().join("died")).unwrap();
    assert!(closed.log.is_empty() && !died.log.is_empty());
    assert_eq!(look_at(&closed, false, |_, _| {}), UNHARMED, "no damage");
    assert_eq!(look_at(&died, true, |_, _| {}), UNHARMED, "no damage, with a log");

    let in_the_head = look_at(&closed, false, |ledger, _| ledger[0] ^= 1);
    assert_eq!(in_the_head, FlipResult::AtStart);
    let in_a_row = look_at(&closed, false, |ledger, _| spoil_all(ledger, b"flip-00007"));
    assert!(matches!(in_a_row, FlipResult::AtStart | FlipResult::ByVerify), "{in_a_row:?}");
    for change in [
        "UPDATE head SET balance = balance + 1",
        "UPDATE mark SET position = position + 1",
        "UPDATE kept SET balance = balance + 1 WHERE charge IS NULL",
        "UPDATE kept SET charge = NULL WHERE charge IS NOT NULL",
    ] {
        let result = copy_with(&closed, change);
        assert!(
            matches!(result, FlipResult::AtStart | FlipResult::ByVerify),
            "{change}: {result:?}"
        );
    }

    let lost = copy_with(&closed, "DELETE FROM kept");
    assert!(matches!(lost, FlipResult::Wrong(_)), "{lost:?}");
    let used = copy_with(&closed, "UPDATE used SET calls = calls + 1");
    assert!(matches!(used, FlipResult::Harmless { is_used_otherwise: true, .. }), "{used:?}");

    let cut = look_at(&died, true, |_, log| log.truncate(log.len() / 2));
    assert!(matches!(cut, FlipResult::CutOff(_)), "{cut:?}");
    std::mem::swap(&mut closed.state, &mut died.state);
    let other = look_at(&closed, false, |_, _| {});
    assert!(matches!(other, FlipResult::Wrong(_)), "{other:?}");
}

#[test]
fn a_lost_answer_is_a_finding_of_its_own() {
    let flip = |table| Flip { table, ..Flip::default() };
    let mut counts = Counts::default();
    counts.count(flip(None), &UNHARMED);
    let lost = FlipResult::Harmless {
        is_kept_lost: true,
        is_used_otherwise: false,
        charge_refused: false,
    };
    counts.count(flip(Some(3)), &lost);
    counts.count(flip(Some(3)), &FlipResult::ByVerify);
    assert_eq!((counts.harmless, counts.kept_lost), (1, 1));
    assert_eq!(counts.aimed[3], (2, 1));
}
