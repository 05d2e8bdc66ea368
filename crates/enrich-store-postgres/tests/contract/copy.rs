//! Tests of copying a ledger from a data folder (SQLite) to PostgreSQL, and back.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use enrich_core::port::accounts::Accounts as _;
use enrich_core::port::ledger::{Charge, Charged, Grant, Ledger as _};
use enrich_core::port::usage::{Usage as _, Use, UseOutcome};
use enrich_core::{
    Account, AccountId, BodyTemplate, ChargeId, Credits, IdempotencyKey, IdempotencyRecord,
};
use enrich_ledger::copy::Batch;
use enrich_secrets::{SECRET_FILE, Secrets};
use enrich_sign_in::{Session, SignIns as _, Token};
use enrich_store::{Store as Folder, export_ledger, import_ledger};
use enrich_store_postgres::copy::{self, Mode};
use enrich_store_postgres::{CommandPorts, OpenError, migrate};
use enrich_testkit::contract::{after_noon, new_charge, new_key, noon};
use enrich_testkit::postgres::{Cluster, Database};
use enrich_text::EmailAddress;
use futures_util::future::join_all;
use pollster::block_on;

use super::Route;

/// All rows of a ledger by table; the rows of each table are sorted.
type Tables = BTreeMap<&'static str, Vec<String>>;

fn add(tables: &mut Tables, batch: Batch) {
    let rows = batch.rows.iter().map(|row| format!("{row:?}"));
    tables.entry(batch.table.name).or_default().extend(rows);
}

fn sorted(mut tables: Tables) -> Tables {
    tables.values_mut().for_each(|rows| rows.sort());
    tables
}

/// Creates a data folder with two accounts and their charges, and with a row in every other table.
/// Returns the first account.
fn fill(path: &Path) -> AccountId {
    let folder = Folder::open_or_create(path).unwrap();
    let accounts = ["Northwind", "Southwind"].map(|name| Account::new(name, noon()));
    let account = accounts[0].id;
    block_on(async {
        for new in accounts {
            let (id, key) = (new.id, new_key(new.id, "first"));
            folder.accounts.create(new, key.clone()).await.unwrap();
            folder.ledger.grant(Grant::new(id, 5_000, noon())).await.unwrap();
            // In a data folder, an entry of the sequence index covers 256 rows of an account, so
            // 600 charges need several entries. The time goes back after every seventh charge, as
            // if the clock was set back.
            let charges = (0..600).map(|number: i64| {
                let at = after_noon(number % 7);
                let record = (number % 100 == 0).then(|| IdempotencyRecord {
                    key: IdempotencyKey::parse(&format!("k{number}")).unwrap(),
                    request_bytes: b"quill.example".to_vec(),
                    body: BodyTemplate::new(b"{\"n\":}".to_vec(), Some(5)),
                });
                let charge = new_charge(id, key.id);
                folder.ledger.charge(Charge {
                    id: ChargeId::new(at),
                    at,
                    idempotency: record,
                    ..charge
                })
            });
            for charged in join_all(charges).await {
                assert!(matches!(charged, Ok(Charged::Taken { .. })), "{charged:?}");
            }
            folder.usage.count(Use {
                account: id,
                key: key.id,
                endpoint: "/v1/dtl",
                outcome: UseOutcome::Found,
                credits: Credits(1),
                at: noon(),
            });
        }
        let email = EmailAddress::parse("ada@northwind.example").unwrap();
        folder.sign_ins.set_email(account, &email, noon()).await.unwrap();
        let token = Token::generate().unwrap();
        folder.sign_ins.invite(account, &token, after_noon(60)).await.unwrap();
        let session =
            Session { account, started_at: noon(), seen_at: noon(), ends_at: after_noon(3_600) };
        folder.sign_ins.begin_session(&Token::generate().unwrap(), session).await.unwrap();
        folder.usage.flush().await.unwrap();
    });
    account
}

/// Returns the definitions of the indexes of the table `entry`.
fn indexes(database: &Database) -> String {
    let select = "SELECT indexdef FROM pg_indexes WHERE tablename = 'entry' ORDER BY indexdef";
    let psql =
        Command::new("psql").args(["-X", "-A", "-t", "-c", select, &database.url()]).output();
    String::from_utf8(psql.unwrap().stdout).unwrap()
}

pub(super) fn a_ledger_is_the_same_after_the_way_to_the_database_and_back(route: Route) {
    if route.is_missing() {
        return;
    }
    let Some(cluster) = Cluster::for_tests() else { return };
    let database = cluster.fresh_database().unwrap();
    let url = database.url_at(&[route.address(cluster)]);
    let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let account = fill(one.path());
    let secrets = Secrets::load(&one.path().join(SECRET_FILE)).unwrap();
    migrate(&database.url(), &secrets).unwrap();
    copy::set_mode(&url, &secrets, Mode::Copying).unwrap();

    let (mut first, mut batches) = (Tables::new(), Vec::new());
    let exported = export_ledger(one.path(), &mut |batch| {
        add(&mut first, batch.clone());
        batches.push(batch);
        Ok(())
    });
    let exported = exported.unwrap();
    let first = sorted(first);
    let names = ["account", "api_key", "entry", "invitation", "key_used", "kept", "secret"];
    for name in names.into_iter().chain(["session", "sign_in", "used"]) {
        assert!(first.contains_key(name), "{name} has no rows");
    }
    let (whole, mut batches) = (batches.clone(), batches.into_iter());
    let migrated = indexes(&database);
    assert_eq!(migrated.lines().count(), 2, "{migrated}");
    let mut failing = [Ok(batches.next()), Err("the source has faults".into())].into_iter();
    let failed = copy::import(&url, &secrets, &mut || failing.next().unwrap()).unwrap_err();
    assert!(matches!(failed, copy::CopyError::Other(_)), "{failed:?}");
    assert_eq!(indexes(&database), migrated);
    let mut batches = whole.into_iter();
    copy::import(&url, &secrets, &mut || Ok(batches.next())).unwrap();
    assert_eq!(indexes(&database), migrated);
    assert_eq!(copy::verify(&url, &secrets).unwrap(), exported);
    let refused = CommandPorts::open(&url, &secrets).err().unwrap();
    assert!(matches!(refused, OpenError::NotServing(mode) if mode == "copying"));
    copy::set_mode(&url, &secrets, Mode::Serving).unwrap();
    let ports = CommandPorts::open(&url, &secrets).unwrap();
    let balance = block_on(ports.ledger.balance(account)).unwrap();
    assert_eq!(balance, Some(Credits(4_400)));
    drop(ports);

    let mut full = || Ok(None);
    let filled = copy::import(&url, &secrets, &mut full).unwrap_err();
    assert!(matches!(filled, copy::CopyError::NotEmpty), "{filled:?}");

    std::fs::copy(one.path().join(SECRET_FILE), other.path().join(SECRET_FILE)).unwrap();
    let mut batches = Vec::new();
    let exporting = copy::export(&url, &secrets, &mut |batch| {
        batches.push(batch);
        Ok(())
    });
    exporting.unwrap();
    let mut batches = batches.into_iter();
    let imported = import_ledger(other.path(), &mut || Ok(batches.next())).unwrap();
    assert_eq!(imported, exported);
    let files = std::fs::read_dir(other.path()).unwrap().map(|file| file.unwrap().file_name());
    let left: Vec<_> = files.filter(|name| name.to_string_lossy().contains("unfinished")).collect();
    assert!(left.is_empty(), "{left:?}");
    let mut second = Tables::new();
    export_ledger(other.path(), &mut |batch| {
        add(&mut second, batch);
        Ok(())
    })
    .unwrap();
    assert_eq!(sorted(second), first);
    let folder = Folder::open(other.path()).unwrap();
    assert_eq!(block_on(folder.ledger.balance(account)).unwrap(), Some(Credits(4_400)));
    let entries = block_on(folder.ledger.entries(account, 0, 1_000)).unwrap();
    assert_eq!(entries.len(), 601);
}
