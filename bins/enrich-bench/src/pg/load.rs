//! Charges in a closed loop: each client makes its next charge when the previous one is decided.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use enrich_core::port::ledger::{Charge, Charged, Ledger as _};
use enrich_core::{
    AccountId, BodyTemplate, ChargeId, Clock as _, DirectoryRevision, IdempotencyKey,
    IdempotencyRecord, KeyId, Price, RequestId, Timestamp,
};
use enrich_store::SystemClock;
use enrich_store_postgres::Store;
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;

/// How many charges are in flight, and how they are made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    pub(crate) nodes: usize,
    pub(crate) accounts: usize,
    /// Number of charges in flight, over all nodes together.
    pub(crate) in_flight: usize,
    pub(crate) is_keyed: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Customer {
    pub(crate) account: AccountId,
    pub(crate) key: KeyId,
}

/// The number of charges so far. Each idempotency key contains this number, which makes the key
/// unique.
static NUMBER: AtomicU64 = AtomicU64::new(0);

/// Makes charges on all nodes at the same time. Returns the number of charges per second.
pub(crate) fn run_together(
    nodes: &[Store],
    customers: &[Customer],
    load: Load,
    duration: Duration,
) -> Result<f64> {
    let began = Instant::now();
    let each = load.in_flight / nodes.len();
    let taken: Result<Vec<u64>> = thread::scope(|scope| {
        let running: Vec<_> = nodes
            .iter()
            .map(|node| scope.spawn(move || run(node, customers, each, load.is_keyed, duration)))
            .collect();
        let joined = running.into_iter().map(|running| match running.join() {
            Ok(taken) => taken,
            Err(_) => bail!("a thread of the load panicked"),
        });
        joined.collect()
    });
    Ok(taken?.into_iter().sum::<u64>() as f64 / began.elapsed().as_secs_f64())
}

fn run(
    node: &Store,
    customers: &[Customer],
    in_flight: usize,
    is_keyed: bool,
    duration: Duration,
) -> Result<u64> {
    let end = Instant::now() + duration;
    let mut turn = 0;
    let mut next = || {
        turn += 1;
        let charge = charge(customers[turn % customers.len()], is_keyed);
        async move { node.ledger.charge(charge?).await.context("a charge was refused") }
    };
    let mut running: FuturesUnordered<_> = (0..in_flight).map(|_| next()).collect();
    let mut taken = 0;
    pollster::block_on(async {
        while let Some(charged) = running.next().await {
            match charged? {
                Charged::Taken { .. } => taken += 1,
                other => bail!("a charge was answered by {other:?}"),
            }
            if Instant::now() < end {
                running.push(next());
            }
        }
        Ok(taken)
    })
}

/// Returns a charge like those that the service makes.
pub(crate) fn charge(customer: Customer, is_keyed: bool) -> Result<Charge> {
    let now: Timestamp = SystemClock.now();
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let idempotency = is_keyed.then(|| -> Result<_> {
        Ok(IdempotencyRecord {
            key: IdempotencyKey::parse(&format!("{}-{number}", now.as_microsecond()))?,
            request_bytes: b"company_website=quill.example".to_vec(),
            body: BodyTemplate::new(vec![b'x'; 200], None),
        })
    });
    Ok(Charge {
        id: ChargeId::new(now),
        account: customer.account,
        key: customer.key,
        endpoint: "/v1/dtl",
        items: 1,
        price: Price::PerAnswer(1),
        request_id: RequestId::make(now),
        revision: DirectoryRevision(1),
        at: now,
        idempotency: idempotency.transpose()?,
    })
}
