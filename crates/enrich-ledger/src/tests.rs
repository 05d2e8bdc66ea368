//! Tests of the bytes that are stored in databases, and of the chain in which each ledger row
//! depends on the row before it.

mod verification;

use std::fmt::Write as _;
use std::io::Write as _;

use enrich_core::port::ledger::{Charge, Grant, Verification};
use enrich_core::{
    AccountId, BodyTemplate, ChargeId, Credits, DirectoryRevision, EntryKind, IdempotencyKey,
    IdempotencyRecord, KeyId, Price, RequestId, Timestamp,
};
use enrich_secrets::{CannotDecrypt, Secrets, private_file};
use uuid::Uuid;

use super::*;

/// Returns the secrets of a `secret.key` file with these lines. An element of `lines` is the number
/// of a secret and one byte in hex; the secret is this byte, repeated 32 times.
fn secrets(lines: &[(u32, &str)]) -> Secrets {
    let mut text = String::new();
    for (number, byte) in lines {
        writeln!(text, "{number} {}", byte.repeat(32)).unwrap();
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("secret.key");
    let mut file = private_file().create_new(true).open(&path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
    Secrets::load(&path).unwrap()
}

fn secret_7() -> Secrets {
    secrets(&[(7, "5a")])
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut hex, byte| {
        write!(hex, "{byte:02x}").unwrap();
        hex
    })
}

fn bytes(hex: &str) -> Vec<u8> {
    let byte = |at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
    (0..hex.len()).step_by(2).map(byte).collect()
}

fn at() -> Timestamp {
    Timestamp::from_microsecond(1_790_000_000_123_456).unwrap()
}

fn account() -> AccountId {
    AccountId(Uuid::from_u128(1))
}

fn charge_id() -> ChargeId {
    ChargeId(Uuid::from_u128(2))
}

fn charge(items: u64) -> Charge {
    Charge {
        id: charge_id(),
        account: account(),
        key: KeyId(Uuid::from_u128(6)),
        endpoint: "/v1/dtl",
        items,
        price: Price::per_items::<2>(),
        request_id: RequestId::accept("r-7").unwrap(),
        revision: DirectoryRevision(8),
        at: at(),
        idempotency: None,
    }
}

fn adjustment() -> Grant {
    Grant {
        id: ChargeId(Uuid::from_u128(9)),
        note: "paid twice".into(),
        corrects: Some(charge_id()),
        ..Grant::new(account(), 3, at())
    }
}

/// Returns the row of a charge of 3 credits, and the state after it. The account's first row has
/// granted 7 credits.
fn charged<'a>(charge: &'a Charge, secrets: &Secrets) -> (Row<'a>, LastRow) {
    let first = LastRow { sequence: 1, balance: Credits(7), chain: NO_ROW };
    let ChargeDecision::Row(mut row) = decide_charge(charge, first.balance) else { panic!() };
    let last = first.append(&mut row, secrets.current());
    (row, last)
}

// Databases contain the hashes of rows, so the same row must always have the same hash. The
// expected hashes come from an older build.
#[test]
fn the_bytes_of_rows_and_their_hashes_stay() {
    let secrets = secret_7();
    let (charge, grant) = (charge(5), adjustment());
    let (row, last) = charged(&charge, &secrets);
    assert_eq!((row.sequence, row.secret, row.credits), (2, 7, -3));
    assert_eq!((last.sequence, last.balance), (2, Credits(4)));
    let chain = "a0d65bb794739739fb04251f8ccd242b06922413e18de001959caae151ce6a7e";
    assert_eq!(hex(&last.chain), chain);

    let mut row = decide_grant(&grant, last.balance).unwrap();
    let last = last.append(&mut row, secrets.current());
    assert_eq!((last.sequence, last.balance), (3, Credits(7)));
    let chain = "abfc88fbf9dd906e126fb3ec5ba4b20b4ef37177e27c65c324c549231af00552";
    assert_eq!(hex(&last.chain), chain);
}

#[test]
fn an_added_row_follows_the_one_before_it() {
    let (secrets, charge) = (secret_7(), charge(5));
    let first = LastRow { sequence: 1, balance: Credits(7), chain: NO_ROW };
    let (row, last) = charged(&charge, &secrets);
    assert_eq!(first.follow(&row, &last.chain, &secrets), Ok(last));
    let entry = row.entry().unwrap();
    assert_eq!((entry.sequence, entry.credits, entry.balance), (2, -3, Credits(4)));
    assert!(
        matches!(entry.kind, EntryKind::Charge { items: 5, price, .. } if price == Price::per_items::<2>())
    );
}

#[test]
fn an_altered_row_does_not_follow() {
    let (secrets, charge) = (secret_7(), charge(5));
    let first = LastRow { sequence: 1, balance: Credits(7), chain: NO_ROW };
    let (row, last) = charged(&charge, &secrets);
    let follows = |first: LastRow, row: &Row<'_>, chain| first.follow(row, &chain, &secrets);
    let altered = Err(DoesNotFollow::Altered);
    let note = Row { note: "x".into(), ..row.clone() };
    assert_eq!(follows(first, &note, last.chain), altered);
    assert_eq!(follows(first, &row, NO_ROW), altered);
    assert_eq!(follows(LastRow { chain: last.chain, ..first }, &row, last.chain), altered);

    // The sequence or the balance of these rows is wrong. But their hashes are correct, as if
    // somebody who has the secret had made the rows.
    for wrong in [Row { sequence: 3, ..row.clone() }, Row { balance: Credits(5), ..row.clone() }] {
        let chain = wrong.chain(&first.chain, secrets.current());
        assert_eq!(follows(first, &wrong, chain), altered);
    }
    let of_8 = Row { secret: 8, ..row };
    assert_eq!(follows(first, &of_8, last.chain), Err(DoesNotFollow::UnknownSecret(8)));
}

#[test]
fn a_charge_takes_what_is_there_and_no_more() {
    let charge = charge(5);
    assert_eq!(decide_charge(&charge, Credits(2)), ChargeDecision::Insufficient);
    for (before, after) in [(3, 0), (4, 1), (Credits::MAX.0, Credits::MAX.0 - 3)] {
        let ChargeDecision::Row(row) = decide_charge(&charge, Credits(before)) else { panic!() };
        assert_eq!((row.credits, row.balance), (-3, Credits(after)));
    }
}

#[test]
fn a_charge_without_items_adds_no_row() {
    let charge = charge(0);
    for balance in [0, 7] {
        assert_eq!(decide_charge(&charge, Credits(balance)), ChargeDecision::Free);
    }
}

#[test]
fn a_grant_leaves_the_balance_in_its_range() {
    let grant = |credits| Grant::new(account(), credits, at());
    let after = |credits, balance| Some(decide_grant(&grant(credits), balance)?.balance);
    assert_eq!(after(5, Credits(7)), Some(Credits(12)));
    assert_eq!(after(-7, Credits(7)), Some(Credits(0)));
    assert_eq!(after(-8, Credits(7)), None);
    assert_eq!(after(i64::MIN, Credits::MAX), None);
    assert_eq!(after(i64::MAX, Credits(0)), Some(Credits::MAX));
    assert_eq!(after(1, Credits::MAX), None);
}

fn record() -> IdempotencyRecord {
    let key = IdempotencyKey::parse("k-1").unwrap();
    let body = BodyTemplate::new(b"{\"n\":}".to_vec(), Some(5));
    IdempotencyRecord { key, request_bytes: b"asked".to_vec(), body }
}

const RECORDED: RecordedCharge =
    RecordedCharge { balance: Credits(4), charge: Some(ChargeId(Uuid::from_u128(2))) };

/// An idempotency record that an older build wrote.
const STORED: &str = "113fe74cc094bbe6c770910ac4dccce25ca68e11aad098769e9e1f13f164fea1\
                      1250e67c22a6c09a74a16684002461f39446d8f79b8b827446682db89785cf\
                      cf1ef6921e8cab8a3b2439846f036095";
/// An idempotency record with the answer `{}`, in the format of builds before schema 4 of the
/// SQLite ledger. In this format, the answer is encrypted with the key for `OldResponseSeal`, and
/// no keyed hash of the balance and the charge follows it.
const OLD: &str = "07e6120d8a5f0acbabcb7f811e2fc94f940732e472ddee9fe02fa1ffdf76038e\
                   d7863ed0aedab8ee8a7f";

fn open(
    secrets: &Secrets,
    sealed: &[u8],
    recorded: RecordedCharge,
) -> Result<BodyTemplate, CannotDecrypt> {
    let name = response_names(secrets, account(), &record().key, b"asked").remove(0);
    StoredRecord { account: account(), name, sealed, recorded, at: at() }.open(secrets)
}

#[test]
fn the_names_of_responses_stay() {
    let names = response_names(&secret_7(), account(), &record().key, b"asked");
    let expected = ResponseName {
        secret: 7,
        key_hash: bytes("43302b3892503de8897756240ada06cd337800922bd23653dbfee7877959420c")
            .try_into()
            .unwrap(),
        asked_hash: bytes("23869f21e6e5c6851947d0f7b2c9e467c3e797c84686ad40a07466e31a3dc0d7")
            .try_into()
            .unwrap(),
    };
    assert_eq!(names, [expected]);
}

#[test]
fn responses_of_earlier_builds_open() {
    let secrets = secret_7();
    assert_eq!(open(&secrets, &bytes(STORED), RECORDED), Ok(record().body));
    // The old record does not authenticate the balance and the charge. So it can be decrypted with
    // any balance and charge.
    let recorded = RecordedCharge { balance: Credits(9), charge: None };
    let body = BodyTemplate::new(b"{}".to_vec(), None);
    assert_eq!(open(&secrets, &bytes(OLD), recorded), Ok(body));
}

#[test]
fn a_sealed_response_opens_with_its_balance_and_charge_alone() {
    let secrets = secret_7();
    let sealed = seal_response(&secrets, account(), &record(), at()).unwrap();
    let mut stored = sealed.bytes_with(&secrets, account(), RECORDED, at());
    assert_eq!(open(&secrets, &stored, RECORDED), Ok(record().body));
    let others = [
        RecordedCharge { balance: Credits(5), ..RECORDED },
        RecordedCharge { charge: None, ..RECORDED },
    ];
    for other in others {
        assert_eq!(open(&secrets, &stored, other), Err(CannotDecrypt));
    }
    let without_tag = &stored[..stored.len() - 32];
    assert_eq!(open(&secrets, without_tag, RECORDED), Err(CannotDecrypt));
    assert_eq!(open(&secrets, &[], RECORDED), Err(CannotDecrypt));
    stored[30] ^= 1;
    assert_eq!(open(&secrets, &stored, RECORDED), Err(CannotDecrypt));
}

#[test]
fn a_response_is_named_by_each_secret_and_sealed_by_the_current_one() {
    let secrets = secrets(&[(7, "5a"), (8, "c3")]);
    let sealed = seal_response(&secrets, account(), &record(), at()).unwrap();
    let numbers = sealed.names.iter().map(|name| name.secret).collect::<Vec<_>>();
    assert_eq!(numbers, [8, 7]);
    let before = response_names(&secret_7(), account(), &record().key, b"asked");
    assert_eq!(sealed.names[1..], before);
    let stored = sealed.bytes_with(&secrets, account(), RECORDED, at());
    assert_eq!(open(&secrets, &stored, RECORDED), Ok(record().body));
}

#[test]
fn a_record_expires_after_a_day() {
    let later = |seconds| at() + jiff::SignedDuration::from_secs(seconds);
    assert!(!has_expired(at(), later(24 * 60 * 60 - 1)));
    assert!(has_expired(at(), later(24 * 60 * 60)));
    assert!(!has_expired(later(60), at()));
}

#[test]
fn shares_bind_in_the_second_half_of_the_space() {
    assert_eq!(share_of(160, 79), None);
    assert_eq!(share_of(160, 80), Some(10));
    assert_eq!(share_of(15, 15), None);
}
