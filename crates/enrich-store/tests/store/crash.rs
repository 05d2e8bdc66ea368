//! A test in which a process is killed while it charges.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::{env, thread};

use enrich_core::port::accounts::Accounts as _;
use enrich_core::port::ledger::{Charge, Charged, Ledger as _};
use enrich_core::{
    BodyTemplate, ChargeId, DirectoryRevision, IdempotencyKey, IdempotencyRecord, Price, RequestId,
};
use pollster::block_on;

use crate::customer::{Customer, now, open};

/// The environment variable that tells a test process to charge until it is killed. Its value is
/// the data folder. The test starts such a process, and itself runs without this variable.
const FOLDER: &str = "ENRICH_TEST_CHARGE_UNTIL_KILLED";
/// The test kills the process after the process has printed this number of successful charges.
const ENOUGH: usize = 200;

#[test]
fn a_killed_process_loses_no_acknowledged_charge() {
    if let Some(folder) = env::var_os(FOLDER) {
        return charge_until_killed(Path::new(&folder));
    }
    let mut customer = Customer::with(1_000_000);
    let this_test = "crash::a_killed_process_loses_no_acknowledged_charge";
    let mut charging = Command::new(env::current_exe().unwrap())
        .args(["--exact", this_test, "--nocapture"])
        .env(FOLDER, customer.folder.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let told = BufReader::new(charging.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut told = told.filter_map(|line| line.strip_prefix("taken ").map(str::to_owned));
    let mut acknowledged: Vec<String> = told.by_ref().take(ENOUGH).collect();
    charging.kill().unwrap();
    charging.wait().unwrap();
    acknowledged.extend(told);
    assert!(acknowledged.len() >= ENOUGH, "{}", acknowledged.len());

    customer.store = open(customer.folder.path());
    assert_eq!(customer.faults(), [] as [&str; 0]);
    let balance = customer.balance();
    for key in &acknowledged {
        let repeat = block_on(customer.store.ledger.charge(charge(&customer, key))).unwrap();
        assert!(matches!(repeat, Charged::Replayed(_)), "{key}: {repeat:?}");
    }
    assert_eq!(customer.balance(), balance, "nothing is charged twice");
}

/// Charges on several threads until this process is killed. Prints each charge after it has
/// succeeded.
fn charge_until_killed(folder: &Path) {
    let store = open(folder);
    let account = block_on(store.accounts.accounts()).unwrap()[0].id;
    let key = block_on(store.accounts.keys(account)).unwrap()[0].id;
    thread::scope(|scope| {
        for thread in 0..8 {
            let store = &store;
            scope.spawn(move || {
                for number in 0_u32.. {
                    let name = format!("{thread}-{number}");
                    let charge = Charge { account, key, ..keyed(&name) };
                    block_on(store.ledger.charge(charge)).unwrap();
                    println!("taken {name}");
                }
            });
        }
    });
}

fn charge(customer: &Customer, name: &str) -> Charge {
    Charge { account: customer.account, key: customer.key, ..keyed(name) }
}

fn keyed(name: &str) -> Charge {
    Charge {
        id: ChargeId::new(now()),
        account: enrich_core::AccountId::new(now()),
        key: enrich_core::KeyId::new(now()),
        endpoint: "/v1/cuf",
        items: 1,
        price: Price::PerAnswer(1),
        request_id: RequestId::accept("a-request").unwrap(),
        revision: DirectoryRevision(1),
        at: now(),
        idempotency: Some(IdempotencyRecord {
            key: IdempotencyKey::parse(name).unwrap(),
            request_bytes: b"q".to_vec(),
            body: BodyTemplate::new(b"a".to_vec(), None),
        }),
    }
}
