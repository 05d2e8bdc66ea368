//! Tests of the history of the schema: a released file never changes.

use std::fs;
use std::path::Path;

use enrich_core::port::accounts::Accounts as _;
use enrich_core::port::ledger::Ledger as _;
use enrich_store::{OpenError, Store};
use futures_util::future::join_all;
use pollster::block_on;

use crate::customer::{Customer, now, open};

/// Every file of the schema, with the BLAKE3 hash of its text.
///
/// A released file must never change, not even in a comment. Otherwise Enrich would refuse the
/// databases that were created with the old text. To change the schema, add a new file, and a new
/// row in this table.
const FILES: [(&str, &str); 17] = [
    ("directory/V1__directory.sql", V1_DIRECTORY),
    ("directory/V2__name_words.sql", V2_NAME_WORDS),
    ("directory/V3__source_file.sql", V3_SOURCE_FILE),
    ("directory/V4__suppression_lists.sql", SUPPRESSION_LISTS),
    ("directory/V5__facts_beside_profiles.sql", V5_FACTS_BESIDE_PROFILES),
    ("directory/V6__source_terms.sql", V6_SOURCE_TERMS),
    ("directory/V7__change_id.sql", V7_CHANGE_ID),
    ("directory/V8__entity_resolution.sql", V8_ENTITY_RESOLUTION),
    ("directory/V9__decisions.sql", V9_DECISIONS),
    ("ledger/V1__ledger.sql", V1_LEDGER),
    ("ledger/V2__key_changes.sql", V2_KEY_CHANGES),
    ("ledger/V3__sign_ins.sql", V3_SIGN_INS),
    ("ledger/V4__kept_vouchers.sql", V4_KEPT_VOUCHERS),
    ("ledger/V5__final_ends.sql", V5_FINAL_ENDS),
    ("ledger/V6__missed_names.sql", V6_MISSED_NAMES),
    ("ledger/V7__kept_shares.sql", V7_KEPT_SHARES),
    ("ledger/V8__account_status.sql", V8_ACCOUNT_STATUS),
];

const V1_DIRECTORY: &str = "0b77f0e468d8513bd0a013bda32a91d262eaed0bc088976d4317bb72251ca336";
const V2_NAME_WORDS: &str = "df3f6a3cc48c802b575390df5fab8947b4e7f0755556e2ca0af863afd8684c5b";
const V3_SOURCE_FILE: &str = "0932c11e9b13a77bfa8b6373499b463237211b2c801a9ab3ac635205f856f2df";
const SUPPRESSION_LISTS: &str = "adff055dbec96d624e78124007b34441231e4da14519082c09443ffa1bc85827";
const V5_FACTS_BESIDE_PROFILES: &str =
    "659765e1832216b26e5eae4e2094ba07889a51392097334994c8e860da1ebeaa";
const V6_SOURCE_TERMS: &str = "980209c9c93192af35bb0299149b7a6513b853825ae937be83c280cdee4034b2";
const V7_CHANGE_ID: &str = "522e24e876073a8ff4419045f739269504e7e23e396a618a2d8ac6fa7fb525d3";
const V8_ENTITY_RESOLUTION: &str =
    "e68b69a498b5091b72266320c91c8af591ce7185603bda15cfec61f352bc2344";
const V9_DECISIONS: &str = "ef317df9f267955184edf014edc8da4f30650dc3b0b3074dbe62c1a9086ab304";
const V1_LEDGER: &str = "b3c1d0f8d24088fba9630ed77fbf911537b1cceb9898272a749f6a7256ae3aff";
const V2_KEY_CHANGES: &str = "4205efb77486837753ddff8b350a5edbef089daf0ad5f0adb57aaf344e0516a4";
const V3_SIGN_INS: &str = "a21d8a8e1d0df345195bbdf2a0bf687f7fafdcf553044020e8516a1622448f50";
const V4_KEPT_VOUCHERS: &str = "6d898e1a86b27c6437eb76232aeee6206acb6357700ee99cae0aae696ef68860";
const V5_FINAL_ENDS: &str = "43949115289e5fef783dd9ac51f3ab2d1aaa125ac74690f81dc30be639e489cd";
const V6_MISSED_NAMES: &str = "e9abb9cdacd945a03b69a4a1f596644f6bc61dd3ebc2a59ef36e09b33c021bb7";
const V7_KEPT_SHARES: &str = "9d3d633674fab21d3ea1f8b1044a0d2b01cb133f768daccec36682e0c38e6261";
const V8_ACCOUNT_STATUS: &str = "04ef7eb2a73c17b9f264c5e482b8c8f70660304f421e9399ca8f4445a01b6250";

#[test]
fn a_released_schema_never_changes() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut there = Vec::new();
    for database in ["directory", "ledger"] {
        let folder = crates.join(format!("enrich-store-{database}/migrations"));
        for file in fs::read_dir(folder).unwrap() {
            let file = file.unwrap();
            let name = format!("{database}/{}", file.file_name().to_str().unwrap());
            there.push((name, blake3::hash(&fs::read(file.path()).unwrap()).to_string()));
        }
    }
    there.sort();
    let released = FILES.map(|(name, hash)| (name.to_owned(), hash.to_owned()));
    assert_eq!(there, released, "a released file was changed, or a new one has no row");
}

/// Statements that undo the migrations of the ledger after version 4.
const BACK_TO_V4: &str = "
    DROP TABLE missed_name;
    DROP TRIGGER kept_added;
    DROP TRIGGER kept_removed;
    DROP TABLE kept_count;
    DROP INDEX api_key_end;
    DROP TRIGGER api_key_changed;
    ALTER TABLE api_key DROP COLUMN ended;
    ALTER TABLE mark DROP COLUMN earliest;
    ALTER TABLE mark DROP COLUMN latest;
    CREATE TRIGGER api_key_changed AFTER UPDATE OF id ON api_key
    BEGIN UPDATE key_changes SET number = number + 1; END;
    DROP TRIGGER account_changed;
    ALTER TABLE account DROP COLUMN status;
    ALTER TABLE account DROP COLUMN status_reason;
    ALTER TABLE account DROP COLUMN country;
    DELETE FROM refinery_schema_history WHERE version > 4;";

/// Returns the bytes of both database files.
fn databases(folder: &Path) -> [Vec<u8>; 2] {
    ["directory.sqlite", "ledger.sqlite"].map(|file| fs::read(folder.join(file)).unwrap())
}

#[test]
fn verification_writes_nothing_to_the_databases() {
    let customer = Customer::with(10);
    customer.take(customer.charge());
    let Customer { folder, store, .. } = customer;
    drop(store);
    // `secret.key` gets a second secret. Opening the folder would record this secret in both
    // databases, but a verification must write nothing.
    let path = folder.path().join("secret.key");
    let key = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("{key}2 {}\n", "5a".repeat(32))).unwrap();
    let before = databases(folder.path());
    assert_eq!(Store::verify(folder.path()).unwrap().faults, [] as [String; 0]);
    assert!(databases(folder.path()) == before);
    for file in ["directory.sqlite", "ledger.sqlite"] {
        let file = rusqlite::Connection::open(folder.path().join(file)).unwrap();
        let secrets: i64 =
            file.query_row("SELECT count(*) FROM secret", [], |row| row.get(0)).unwrap();
        assert_eq!(secrets, 1);
    }
}

#[test]
fn a_ledger_of_schema_4_is_brought_forward_with_what_it_holds() {
    let customer = Customer::with(1_000);
    let charges = (0..600).map(|_| customer.store.ledger.charge(customer.charge()));
    assert!(block_on(join_all(charges)).iter().all(Result::is_ok));
    for key in ["one", "two"] {
        customer.take(customer.keyed(key));
    }
    let long_ago = "2020-01-01T00:00:00Z".parse().unwrap();
    block_on(customer.store.accounts.expire_key(customer.key, long_ago, long_ago)).unwrap();
    let Customer { folder, store, account, secret, .. } = customer;
    drop(store);
    let file = rusqlite::Connection::open(folder.path().join("ledger.sqlite")).unwrap();
    file.execute_batch(BACK_TO_V4).unwrap();
    drop(file);

    let before = databases(folder.path());
    let refused = Store::verify(folder.path()).unwrap_err();
    assert!(matches!(refused, OpenError::OlderSchema { found: 4, .. }), "{refused:?}");
    assert!(databases(folder.path()) == before, "verification migrates nothing");

    let store = open(folder.path());
    let verified = block_on(store.ledger.verify()).unwrap();
    assert_eq!((verified.entries, verified.faults), (603, Vec::new()));
    assert_eq!(block_on(store.ledger.first_entry_at(account, now())).unwrap(), 1);
    let key = block_on(store.accounts.find_key(&secret)).unwrap().unwrap();
    assert!(key.has_ended && !key.is_active(long_ago));
}
