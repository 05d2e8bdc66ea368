use enrich_core::port::accounts::Accounts as _;
use enrich_core::port::ledger::{Grant, Ledger as _};
use enrich_core::{Account, NewKey, Timestamp};
use pollster::block_on;

use super::*;
use crate::accounts::PostgresAccounts;
use crate::ledger::PostgresLedger;
use crate::test_database::TestDatabase;

/// A node that writes a seal only when the test calls `SealedNode::seal`.
struct SealedNode {
    node: Node,
    _heartbeat: Heartbeat,
    ledger: PostgresLedger,
    sealer: Option<Sealer>,
}

impl SealedNode {
    fn open(database: &TestDatabase) -> Self {
        let (node, heartbeat) = database.live_node();
        let unsealed = Arc::new(Unsealed::default());
        let sealer = Sealer::new(&node, &heartbeat, Arc::clone(&unsealed));
        let ledger = PostgresLedger::start(&node, Some(unsealed));
        Self { node, _heartbeat: heartbeat, ledger, sealer: Some(sealer) }
    }

    fn account(&self) -> AccountId {
        let now = Timestamp::UNIX_EPOCH;
        let account = Account::new("Quill", now);
        let id = account.id;
        let key = NewKey::generate(id, "", now).unwrap();
        let accounts = PostgresAccounts::new(self.node.clone());
        block_on(accounts.create(account, key)).unwrap();
        id
    }

    fn grant(&self, account: AccountId) {
        block_on(self.ledger.grant(Grant::new(account, 5, Timestamp::UNIX_EPOCH))).unwrap();
    }

    /// Writes a seal, if there is something to seal.
    fn seal(&mut self) {
        let mut sealer = self.sealer.take().unwrap();
        let sealing = async move {
            sealer.round().await.unwrap();
            sealer
        };
        self.sealer = Some(self.node.database.runtime().block_on(sealing).unwrap());
    }

    fn faults(&self) -> Vec<String> {
        block_on(self.ledger.verify()).unwrap().faults
    }
}

/// Returns two nodes. Each has written two seals, and each seal contains rows of the same two
/// accounts.
fn two_nodes() -> Option<(TestDatabase, [SealedNode; 2], [AccountId; 2])> {
    let database = TestDatabase::create()?;
    let (mut a, mut b) = (SealedNode::open(&database), SealedNode::open(&database));
    let accounts = [a.account(), a.account()];
    for _ in 0..2 {
        for account in accounts {
            a.grant(account);
            b.grant(account);
        }
        a.seal();
        b.seal();
    }
    assert_eq!(database.number("SELECT count(*) FROM seal"), 4);
    assert_eq!(a.faults(), [""; 0]);
    Some((database, [a, b], accounts))
}

#[test]
fn removed_rows_of_an_account_are_noticed() {
    let Some((database, [a, _b], [first, _])) = two_nodes() else { return };
    database.execute(&format!("DELETE FROM entry WHERE account = '{first}' AND sequence = 4"));
    assert_eq!(
        a.faults(),
        [format!("account {first}: its rows up to 4 were sealed, and are not there")]
    );
}

#[test]
fn rows_that_were_written_anew_are_noticed() {
    let Some((database, [a, _b], [first, _])) = two_nodes() else { return };
    database.execute(&format!("DELETE FROM entry WHERE account = '{first}' AND sequence = 4"));
    // Node `c` is opened after the row was removed and does not know of it. So the new grant gets
    // the sequence of the removed row.
    let c = SealedNode::open(&database);
    c.grant(first);
    assert_eq!(
        a.faults(),
        [format!("account {first}: its rows up to 4 were sealed, and are not there")]
    );
}

#[test]
fn removed_and_altered_seals_are_noticed() {
    let Some((database, [a, _b], _)) = two_nodes() else { return };
    let node = "SELECT node FROM seal GROUP BY node ORDER BY min(at) LIMIT 1";
    // The seals of the second node contain the hashes of both seals of the first node. So even the
    // removal of the first node's newest seal is noticed.
    database.execute(&format!("CREATE TABLE aside AS SELECT * FROM seal WHERE node = ({node})"));
    database.execute(&format!("DELETE FROM seal WHERE node = ({node}) AND number = 2"));
    let faults = a.faults();
    assert!(faults.len() == 1 && faults[0].contains("seal 2: is missing"), "{faults:?}");
    database.execute("INSERT INTO seal SELECT * FROM aside WHERE number = 2");
    assert_eq!(a.faults(), [""; 0]);
    database.execute(&format!("UPDATE seal SET at = at + 1 WHERE node = ({node}) AND number = 2"));
    let faults = a.faults();
    assert!(faults.len() == 1 && faults[0].contains("is not as it was written"), "{faults:?}");
    database.execute("UPDATE seal SET places = 'short'");
    assert!(a.faults().iter().any(|fault| fault.contains("a seal cannot be read")));
}

#[test]
fn after_an_accepted_loss_only_later_seals_count() {
    let Some((database, [mut a, b], [first, second])) = two_nodes() else { return };
    drop(b);
    database.execute("DELETE FROM entry WHERE sequence = 4");
    assert_eq!(a.faults().len(), 2);
    database.execute("UPDATE state SET lineage = '00000000-0000-7000-8000-000000000001'");
    let began = std::time::Instant::now();
    while a.node.pulse.last().state.lineage.as_u128() & 0xffff != 1 {
        assert!(began.elapsed() < Duration::from_secs(20), "the lineage is not read");
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(a.faults(), [""; 0]);
    a.seal();
    a.grant(first);
    a.grant(second);
    a.seal();
    assert_eq!(a.faults(), [""; 0]);
    database.execute(&format!("DELETE FROM entry WHERE account = '{second}' AND sequence = 4"));
    assert_eq!(a.faults().len(), 1);
}
