use enrich_core::Account;
use enrich_core::port::accounts::Accounts as _;
use enrich_core::port::ledger::Ledger as _;
use enrich_testkit::contract::{new_key, noon};
use pollster::block_on;
use tokio_postgres::types::Type;

use super::*;
use crate::accounts::PostgresAccounts;
use crate::ledger::PostgresLedger;
use crate::ledger::statements::LOCK;
use crate::ledger::transaction::BEGIN;
use crate::test_database::TestDatabase;

const ROOM: RecordSpace = RecordSpace { records: 0, most: 1_000, counts: false };

#[test]
fn an_account_that_is_locked_elsewhere_is_left_out_of_a_group() {
    let Some(database) = TestDatabase::create() else { return };
    let node = database.node();
    let accounts = PostgresAccounts::new(node.clone());
    let [locked, free] = ["Quill", "Northwind"].map(|name| {
        let account = Account::new(name, noon());
        let id = account.id;
        block_on(accounts.create(account, new_key(id, ""))).unwrap();
        id
    });
    let (connections, secrets) = (node.database.connections(), node.secrets.clone());
    let settling = async move {
        let other = connections.connect().await.unwrap();
        other.client.batch_execute(BEGIN).await.unwrap();
        other.client.query_typed(LOCK, &[(&vec![locked.0], Type::UUID_ARRAY)]).await.unwrap();

        let connection = connections.connect().await.unwrap();
        let grants = [locked, free].map(|account| Job::grant(Grant::new(account, 5, noon())).0);
        let (skip, seen) = (Locking::SkipLocked, SeenRows::default());
        let settled = settle(&connection, &grants, &secrets, skip, ROOM, &seen).await.unwrap();
        let [None, Some(Ok(Decision::Granted(granted)))] = &settled.decisions[..] else {
            return Err(settled.decisions);
        };
        assert_eq!(*granted, Granted::Written { balance: Credits(5) });
        assert_eq!(settled.heads.len(), 1);
        Ok(())
    };
    node.database.runtime().block_on(settling).unwrap().unwrap();
    let ledger = PostgresLedger::start(&node, None);
    assert_eq!(block_on(ledger.balance(locked)).unwrap(), Some(Credits::ZERO));
    assert_eq!(block_on(ledger.balance(free)).unwrap(), Some(Credits(5)));
}
