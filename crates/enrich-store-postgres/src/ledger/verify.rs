//! Verifies the whole ledger in many short reads. Rows are only added and never changed, so the
//! result of an earlier read stays correct.

use std::collections::BTreeMap;

use enrich_core::AccountId;
use enrich_core::ChargeId;
use enrich_core::port::error::StoreError;
use enrich_core::port::ledger::Verification;
use enrich_ledger::{AccountCheck, At, Correction, Fault, Findings};
use enrich_secrets::Secrets;
use futures_util::future::join;
use rustc_hash::FxHashMap;
use tokio::sync::mpsc;
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Row};
use uuid::Uuid;

use crate::columns::unsigned;
use crate::database::Connections;
use crate::failure::Failure;
use crate::ledger::rows::{ALL_RECORDS_AFTER, ALL_ROWS_AFTER, Record, read_row};
use crate::node::Node;
use crate::seals::check_seals;

/// Maximum number of rows in one read.
const PAGE: i64 = 10_000;
/// Maximum number of reads whose rows wait to be checked. Each read returns up to [`PAGE`] rows.
const PAGES: usize = 2;
/// Maximum number of idempotency records in one read. It is smaller than [`PAGE`], because a
/// record contains a response and is longer than a ledger row.
const RECORD_PAGE: i64 = 1_000;

const USED: &str = "SELECT account, sum(credits)::text FROM used GROUP BY account";
const ACCOUNTS: &str = "SELECT account FROM purse WHERE account > $1 ORDER BY account LIMIT $2";
const EARLIER: &str = "SELECT sequence FROM entry WHERE id = $1 AND account = $2";
/// Finds the idempotency records whose charge is missing, or has another balance or time than the
/// record.
const CHARGES_OF_RECORDS: &str = "SELECT k.account, k.charge, e.sequence FROM kept k
    LEFT JOIN entry e ON e.id = k.charge AND e.account = k.account
    WHERE k.charge IS NOT NULL AND (e.balance IS NULL OR e.balance <> k.balance OR e.at <> k.at)";

/// Checks every ledger row, every stored response and every seal (which protects the newest rows of
/// accounts). Also checks that the counted usage of each account is at most the sum of its charges.
pub(crate) async fn verify(node: &Node) -> Result<Verification, StoreError> {
    let mut findings = Findings::default();
    // The usage is read before the charges. A call is counted after its charge. So the usage that
    // is read here is never above the charges that are read later.
    let used = node.database.read(|client| Box::pin(read_used(client))).await?;
    let accounts = read_accounts(node).await?;
    let states = check_rows(node, &accounts, &mut findings).await?;
    check_records(node, &mut findings).await?;
    check_seals(node, &mut findings).await?;
    for (account, used) in used {
        let charged = states.get(&account).map_or(0, |state| state.charged);
        if used > charged {
            findings.fault(Fault::UsedTooMuch { account, used, charged });
        }
    }
    Ok(findings.into_verification(accounts.len() as u64))
}

async fn read_used(client: &Client) -> Result<BTreeMap<AccountId, i128>, Failure> {
    let rows = client.query_typed(USED, &[]).await?;
    let sum = |row: &Row| -> Result<_, Failure> {
        let sum: &str = row.try_get(1)?;
        Ok((AccountId(row.try_get(0)?), sum.parse().map_err(Failure::of)?))
    };
    rows.iter().map(sum).collect()
}

/// Reads the ids of all accounts, sorted. A ledger row of any other account is a fault.
async fn read_accounts(node: &Node) -> Result<Vec<AccountId>, StoreError> {
    let mut accounts: Vec<AccountId> = Vec::new();
    loop {
        let after = accounts.last().map_or(Uuid::nil(), |account| account.0);
        let page: Vec<AccountId> = node
            .database
            .read(move |client| {
                Box::pin(async move {
                    let values = [(&after as _, Type::UUID), (&PAGE as _, Type::INT8)];
                    let rows = client.query_typed(ACCOUNTS, &values).await?;
                    rows.iter().map(|row| Ok(AccountId(row.try_get(0)?))).collect()
                })
            })
            .await?;
        if page.is_empty() {
            return Ok(accounts);
        }
        accounts.extend(page);
    }
}

/// Checks the rows in the order of their accounts, each row against the row before it. While the
/// caller's thread checks rows, the database's thread reads the next rows.
async fn check_rows(
    node: &Node,
    accounts: &[AccountId],
    findings: &mut Findings,
) -> Result<FxHashMap<AccountId, AccountCheck>, StoreError> {
    let (pages, mut received) = mpsc::channel(PAGES);
    let connections = node.database.connections();
    let reading = node.database.runtime().run(async move { send_rows(&connections, pages).await });
    // When the checks end, even with an error, `received` is dropped, and then the database's
    // thread stops reading.
    let checking = async move {
        let mut states: FxHashMap<AccountId, AccountCheck> = FxHashMap::default();
        while let Some(rows) = received.recv().await {
            let mut corrections = Vec::new();
            for row in &rows {
                check_row(row, &node.secrets, accounts, &mut states, findings, &mut corrections);
            }
            for correction in corrections {
                let earlier = find_earlier(node, correction.at.0, correction.corrects).await?;
                correction.check(earlier, findings);
            }
        }
        Ok(states)
    };
    let (read, states) = join(reading, checking).await;
    read.map_err(StoreError::failed)??;
    states
}

/// Reads the rows of all accounts, in the order of the accounts, and sends them in pages. Ends
/// early if the receiver is dropped.
async fn send_rows(
    connections: &Connections,
    pages: mpsc::Sender<Vec<Row>>,
) -> Result<(), Failure> {
    let (mut account, mut sequence) = (Uuid::nil(), 0_i64);
    loop {
        let rows = connections
            .read(&move |client| {
                Box::pin(async move {
                    let values = [
                        (&account as _, Type::UUID),
                        (&sequence as _, Type::INT8),
                        (&PAGE as _, Type::INT8),
                    ];
                    Ok(client.query_typed(ALL_ROWS_AFTER, &values).await?)
                })
            })
            .await?;
        let Some(last) = rows.last() else { return Ok(()) };
        (account, sequence) = (last.try_get(0)?, last.try_get(1)?);
        if pages.send(rows).await.is_err() {
            return Ok(());
        }
    }
}

fn check_row(
    row: &Row,
    secrets: &Secrets,
    accounts: &[AccountId],
    states: &mut FxHashMap<AccountId, AccountCheck>,
    findings: &mut Findings,
    corrections: &mut Vec<Correction>,
) {
    findings.count_row();
    let place =
        row.try_get(0).ok().zip(row.try_get::<_, i64>(1).ok().and_then(|n| n.try_into().ok()));
    let Some((account, sequence)) = place.map(|(account, sequence)| (AccountId(account), sequence))
    else {
        return findings.fault("the log: a row that cannot be read");
    };
    let state = states.entry(account).or_insert_with(|| {
        // `accounts` is sorted, so a binary search finds an account.
        if accounts.binary_search(&account).is_err() {
            findings.fault(Fault::NoAccount(account));
        }
        AccountCheck::START
    });
    let before = state.step_to(account, sequence, findings);
    let Ok((row, chain)) = read_row(row) else {
        *state = before.after_unreadable(At(account, sequence), None, findings);
        return;
    };
    if before.check_chain(&row, &chain, secrets, findings).is_some() {
        before.check_balance(&row, findings);
    }
    let (after, correction) = before.after(row, &chain, findings);
    *state = after;
    corrections.extend(correction);
}

async fn find_earlier(
    node: &Node,
    account: AccountId,
    id: ChargeId,
) -> Result<Option<u64>, StoreError> {
    node.database
        .read(move |client| {
            Box::pin(async move {
                let values = [(&id.0 as _, Type::UUID), (&account.0 as _, Type::UUID)];
                let row = client.query_typed_opt(EARLIER, &values).await?;
                row.map(|row| unsigned(row.try_get(0)?)).transpose()
            })
        })
        .await
}

/// Checks that no stored response was altered, and that its charge, if it has one, exists and has
/// the same balance and time.
async fn check_records(node: &Node, findings: &mut Findings) -> Result<(), StoreError> {
    let differing = node.database.read(|client| {
        Box::pin(async move { Ok(client.query_typed(CHARGES_OF_RECORDS, &[]).await?) })
    });
    for row in differing.await? {
        findings.fault(fault_of_record(&row).map_err(StoreError::failed)?);
    }
    let (mut account, mut key_hash) = (Uuid::nil(), Vec::new());
    loop {
        let after = key_hash.clone();
        let rows = node
            .database
            .read(move |client| {
                let after: Vec<u8> = after.clone();
                Box::pin(async move {
                    let values = [
                        (&account as _, Type::UUID),
                        (&after as _, Type::BYTEA),
                        (&RECORD_PAGE as _, Type::INT8),
                    ];
                    Ok(client.query_typed(ALL_RECORDS_AFTER, &values).await?)
                })
            })
            .await?;
        let Some(last) = rows.last() else { return Ok(()) };
        account = last.try_get(0).map_err(StoreError::failed)?;
        key_hash = last.try_get(1).map_err(StoreError::failed)?;
        for row in &rows {
            let opens = Record::read(row)
                .is_ok_and(|record| record.response(&record.name, &node.secrets).is_ok());
            if !opens {
                findings.fault(match row.try_get(0) {
                    Ok(account) => Fault::ResponseAltered(AccountId(account)),
                    Err(_) => Fault::ResponseUnreadable,
                });
            }
        }
    }
}

fn fault_of_record(row: &Row) -> Result<Fault, Failure> {
    let account = AccountId(row.try_get(0)?);
    let charge = ChargeId(row.try_get(1)?);
    Ok(match row.try_get::<_, Option<i64>>(2)? {
        Some(sequence) => Fault::ResponseDiffers(At(account, unsigned(sequence)?)),
        None => Fault::ResponseWithoutCharge { account, charge },
    })
}
