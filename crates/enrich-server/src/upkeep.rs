//! The periodic work of the server, and the last steps of its shutdown.
//!
//! The periodic work frees memory of the metrics, deletes old uploaded lists, and removes
//! suppressed values (values that no answer may contain) from the other uploaded lists. It also
//! makes the expiry of keys, invitations and sessions final. Deleting lists and making expiries
//! final cannot be undone. So these two steps wait until the clock can be trusted ([`ClockWatch`]).

use std::sync::Arc;
use std::time::{Duration, Instant};

use actix_web::rt::spawn;
use actix_web::rt::task::{JoinHandle, spawn_blocking};
use actix_web::rt::time::{interval, timeout};
use enrich_bulk::Jobs;
use enrich_core::{Service, Timestamp, error_chain};
use enrich_sign_in::SignIns;
use tracing::{error, info, warn};

use crate::clock_watch::ClockWatch;
use crate::state::AppState;

/// The time limit for writing the usage counters at shutdown.
const FLUSH_TIME: Duration = Duration::from_secs(2);
/// At shutdown: maximum time to wait for the rows of uploaded lists that are being answered.
const CLOSE_TIME: Duration = Duration::from_secs(1);
/// The interval between two calls of [`AppState::tidy_metrics`], which frees memory.
const TIDYING: Duration = Duration::from_secs(5);
/// [`settle_ends`] is called at every 12th call of [`AppState::tidy_metrics`]: once a minute. It
/// makes the expiry of keys, invitations and sessions final.
const SETTLE_EACH: u32 = 12;
/// Old uploaded lists are deleted at every 120th call of [`AppState::tidy_metrics`]: every ten
/// minutes. This number must be a multiple of [`SETTLE_EACH`], because lists are deleted only
/// directly after a call of [`settle_ends`].
const SWEEP_EACH: u32 = 120;

pub(crate) struct Upkeep(JoinHandle<()>);

impl Upkeep {
    pub(crate) fn start(
        app: Arc<AppState>,
        jobs: Option<Arc<Jobs>>,
        sign_ins: Arc<dyn SignIns>,
    ) -> Self {
        Self(spawn(run(app, jobs, sign_ins)))
    }

    pub(crate) fn stop(self) {
        self.0.abort();
    }
}

async fn run(app: Arc<AppState>, jobs: Option<Arc<Jobs>>, sign_ins: Arc<dyn SignIns>) {
    let started = Instant::now();
    let mut watch = ClockWatch::new(app.service().clock.now(), Duration::ZERO);
    let (mut ticks, mut scrubbing) = (interval(TIDYING), None::<JoinHandle<()>>);
    for tick in 0_u32.. {
        ticks.tick().await;
        app.tidy_metrics();
        if !tick.is_multiple_of(SETTLE_EACH) {
            continue;
        }
        let service = app.service();
        let steady = settle_ends(service, &*sign_ins, &mut watch, started.elapsed()).await;
        let is_free = scrubbing.as_ref().is_none_or(JoinHandle::is_finished);
        if let Some(jobs) = jobs.as_ref().filter(|_| is_free) {
            scrubbing = Some(spawn(scrub(Arc::clone(jobs))));
        }
        if let (Some(jobs), Some(now)) = (&jobs, steady)
            && tick.is_multiple_of(SWEEP_EACH)
        {
            sweep(Arc::clone(jobs), now).await;
        }
    }
}

/// Makes the expiry of all expired keys, invitations and sessions final: they stay expired even if
/// the clock is set back later. Returns the present time. If the clock cannot be trusted, makes no
/// expiry final and returns `None`.
async fn settle_ends(
    service: &Service,
    sign_ins: &dyn SignIns,
    watch: &mut ClockWatch,
    monotonic: Duration,
) -> Option<Timestamp> {
    let now = service.clock.now();
    if !watch.is_steady(now, monotonic) {
        return None;
    }
    let settled = [service.accounts.settle_ends(now).await, sign_ins.settle_ends(now).await];
    for error in settled.into_iter().filter_map(Result::err) {
        let error = error_chain(&error);
        warn!(error, "the ends of keys and sessions cannot be noted");
    }
    Some(now)
}

async fn scrub(jobs: Arc<Jobs>) {
    match spawn_blocking(move || jobs.scrub()).await {
        Ok(Ok(0)) => {}
        Ok(Ok(lists)) => info!(lists, "forgotten values were taken out of lists"),
        Ok(Err(error)) => {
            let error = error_chain(&error);
            warn!(error, "forgotten values cannot be taken out of lists");
        }
        Err(error) => warn!(%error, "forgotten values cannot be taken out of lists"),
    }
}

/// Deletes the uploaded lists that were kept for their whole retention time.
async fn sweep(jobs: Arc<Jobs>, now: Timestamp) {
    match spawn_blocking(move || jobs.sweep(now)).await {
        Ok(Ok(0)) => {}
        Ok(Ok(lists)) => info!(lists, "lists were kept for long enough and deleted"),
        Ok(Err(error)) => {
            warn!(error = error_chain(&error), "lists cannot be deleted");
        }
        Err(error) => warn!(%error, "lists cannot be deleted"),
    }
}

/// Waits at most [`CLOSE_TIME`] for rows of uploaded lists that are being answered. Unfinished
/// lists continue when the server starts again.
pub(crate) async fn close(jobs: Arc<Jobs>) {
    if timeout(CLOSE_TIME, spawn_blocking(move || jobs.close())).await.is_err() {
        warn!("rows of lists were still on their way; they are asked again, and not paid twice");
    }
}

/// Writes the usage counters to the store. The ledger needs no such step: a charge is durable
/// before its answer is sent.
pub(crate) async fn flush(service: &Service) {
    match timeout(FLUSH_TIME, service.usage.flush()).await {
        Ok(Ok(())) => info!("stopped"),
        Ok(Err(error)) => {
            error!(error = error_chain(&error), "the last usage counters could not be written");
        }
        Err(_) => error!("the last usage counters could not be written in time"),
    }
}

#[cfg(test)]
mod tests {
    use enrich_core::port::accounts::Accounts;
    use enrich_core::{Account, Clock as _, NewKey};
    use enrich_sign_in::{Session, Token};
    use enrich_store::Store;
    use enrich_testkit::fake_clock::FakeClock;
    use enrich_text::EmailAddress;

    use super::*;

    const DAY: i64 = 86_400;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn a_clock_that_is_ahead_when_the_server_starts_ends_nothing_for_good() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open_or_create(folder.path().join("data")).unwrap();
        let account = Account::new("Northwind", at(0));
        let key = NewKey::generate(account.id, "", at(0)).unwrap();
        let key = NewKey { expires_at: Some(at(DAY)), ..key };
        let (id, token) = (key.id, Token::generate().unwrap());
        let session =
            Session { account: account.id, started_at: at(0), seen_at: at(0), ends_at: at(DAY) };
        let (accounts, sign_ins) = (&store.accounts, &store.sign_ins);
        let email = EmailAddress::parse("ada@northwind.example").unwrap();
        pollster::block_on(async {
            accounts.create(account, key).await.unwrap();
            sign_ins.set_email(session.account, &email, at(0)).await.unwrap();
            sign_ins.begin_session(&token, session).await.unwrap();
        });

        let clock = Arc::new(FakeClock::default());
        clock.set(2 * DAY);
        let service = store.service_with(Arc::clone(&clock) as _);
        let mut watch = ClockWatch::new(clock.now(), Duration::ZERO);
        let mut settle = |second: i64, minutes: u64| {
            clock.set(second);
            let monotonic = Duration::from_secs(minutes * 60);
            pollster::block_on(settle_ends(&service, &**sign_ins, &mut watch, monotonic));
            let key = pollster::block_on(accounts.key(id)).unwrap().unwrap();
            let has_session = pollster::block_on(sign_ins.session(&token)).unwrap().is_some();
            (key.has_ended, has_session)
        };
        let (lives_on, ended) = ((false, true), (true, false));
        assert_eq!(settle(2 * DAY, 0), lives_on);
        assert_eq!(settle(2 * DAY + 540, 9), lives_on);
        // At minute 10, the clock is set back to one minute before the expiry. From then on,
        // `ClockWatch` waits until the clock has run for ten minutes without a jump. At minute
        // 11, the expiry passes. It becomes final at minute 20.
        assert_eq!(settle(DAY - 60, 10), lives_on);
        assert_eq!(settle(DAY, 11), lives_on);
        assert_eq!(settle(DAY + 540, 20), ended);
    }
}
