//! Attack: a signed-in owner searches the list of the account's calls for a text that does not
//! occur. Many such searches run at the same time, while another customer looks up exact values.

use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, ensure};
use enrich_core::port::accounts::Accounts as _;
use enrich_core::port::ledger::{Charge, Charged, Ledger as _};
use enrich_core::{ChargeId, Clock as _, DirectoryRevision, KeyId, Price, RequestId};
use enrich_sign_in::{Session, SignIns as _, Token};
use enrich_store::{Store, SystemClock};

use super::victim::Answers;
use super::{Case, Figure, Target};
use crate::setting::Setting;
use crate::world::World;
use enrich_testkit::http::Connection;

const SEARCHES: usize = 24;
/// Number of calls in the ledger. One search reads at most 20,000 calls. The ledger has more, so
/// that every search does as much work as a search can.
const CALLS: usize = 25_600;
/// Number of threads that write [`CALLS`] calls to the ledger before the attack.
const WRITERS: usize = 64;
/// The pause of a client after a refused search.
const PAUSE_REFUSED: Duration = Duration::from_millis(50);
/// The index in `World::payers` of the account that searches.
const SEARCHER: usize = 0;
const EMAIL: &str = "ada@quill.example";
const PAGE: &str = "/account/calls?id=not-there";

pub(crate) static CASE: Case = Case {
    name: "calls-search",
    about: "24 searches of one session walk a ledger of 25,600 calls while another customer asks",
    options: &["--log-level", "error"],
    has_admin_listener: false,
    prepare,
    attack,
};

fn prepare(setting: &Setting, world: &World) -> Result<()> {
    let store = Store::open(&world.data)?;
    let account = world.payers[SEARCHER].account;
    let keys = pollster::block_on(store.accounts.keys(account))?;
    let key = keys.first().context("a key")?.id;
    let (store, failed) = (&store, &AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..WRITERS {
            scope.spawn(move || {
                for _ in 0..CALLS / WRITERS {
                    let charge = charge(world, key);
                    let charged = pollster::block_on(store.ledger.charge(charge));
                    let is_taken = matches!(charged, Ok(Charged::Taken { .. }));
                    failed.fetch_add(usize::from(!is_taken), Ordering::Relaxed);
                }
            });
        }
    });
    ensure!(failed.load(Ordering::Relaxed) == 0, "a call could not be written");
    let mut invite = Command::new(&setting.enrich);
    invite.args(["account", "invite", &account.to_string(), "--email", EMAIL, "--data"]);
    let invited = invite.arg(&world.data).output()?;
    ensure!(invited.status.success(), "{}", String::from_utf8_lossy(&invited.stderr));
    Ok(())
}

fn charge(world: &World, key: KeyId) -> Charge {
    let now = SystemClock.now();
    Charge {
        id: ChargeId::new(now),
        account: world.payers[SEARCHER].account,
        key,
        endpoint: "/v1/dtc",
        items: 1,
        price: Price::PerAnswer(1),
        request_id: RequestId::make(now),
        revision: DirectoryRevision(1),
        at: now,
        idempotency: None,
    }
}

/// Creates a session in the data folder of the running server. Returns the session cookie.
fn session(target: &Target<'_>) -> Result<String> {
    let store = Store::open(&target.world.data)?;
    let (token, now) = (Token::generate()?, SystemClock.now());
    let session = Session {
        account: target.world.payers[SEARCHER].account,
        started_at: now,
        seen_at: now,
        ends_at: now + Duration::from_secs(3600),
    };
    pollster::block_on(store.sign_ins.begin_session(&token, session))?;
    Ok(format!("enrich={}", token.expose()))
}

fn attack(target: &Target<'_>) -> Result<Vec<Figure>> {
    let cookie = session(target)?;
    let (done, refused) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let before = Answers::before(target)?;
    let answers = thread::scope(|scope| {
        let searches: Vec<_> = (0..SEARCHES)
            .map(|_| scope.spawn(|| search(target, &cookie, &done, &refused)))
            .collect();
        let answers = before.during(target);
        for search in searches {
            search.join().map_err(|_| anyhow!("a search panicked"))??;
        }
        answers
    })?;
    let count = |count: &AtomicUsize| count.load(Ordering::Relaxed) as f64;
    let mut figures = vec![
        Figure::at_least("searches", count(&done), "", 1.0),
        Figure::unjudged("searches refused", count(&refused), ""),
    ];
    figures.extend(answers.figures());
    Ok(figures)
}

fn search(
    target: &Target<'_>,
    cookie: &str,
    done: &AtomicUsize,
    refused: &AtomicUsize,
) -> Result<()> {
    let mut connection = Connection::to(target.server);
    while !target.is_over() {
        let reply = connection.get(PAGE, &[("Cookie", cookie)])?;
        match reply.status {
            200 => {
                done.fetch_add(1, Ordering::Relaxed);
            }
            503 => {
                refused.fetch_add(1, Ordering::Relaxed);
                thread::sleep(PAUSE_REFUSED);
            }
            status => return Err(anyhow!("a search was answered {status}")),
        }
    }
    Ok(())
}
