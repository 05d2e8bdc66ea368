//! Checks the server after a failed system call: it must behave as its answer says. After a 500,
//! charging must continue. After a 503, charging must have stopped.

use anyhow::Result;
use enrich_testkit::serving::Serving;

use super::{FailingCall, FailureEffect};
use crate::broken::Broken;
use crate::call_log::{Call, End};
use crate::trial::Trial;
use crate::world::status_of;
use enrich_testkit::http::Connection;

/// Maximum number of answers with 500 in each of the two steps of [`went_on`]. In each thread of
/// the server, one system call is made to fail. So each writing thread can cause one answer with
/// 500. The server has fewer writing threads than this number.
const MAX_THREADS: u32 = 32;

/// Sends requests with idempotency keys, until one fails or `goes_on` returns `false`. `goes_on`
/// gets the number of requests sent so far. After a failed request, checks that the server behaves
/// as its answer says.
pub(super) fn ask_until_it_fails(
    trial: &mut Trial<'_>,
    server: &Serving,
    failing: FailingCall,
    mut goes_on: impl FnMut(u64) -> bool,
) -> Result<FailureEffect> {
    let mut connection = Connection::to(server.address());
    let mut asked = 0;
    while goes_on(asked) {
        let call = ask_new(trial, &mut connection, asked);
        asked += 1;
        let effect = match status(&call)? {
            200 => continue,
            500 => went_on(trial, server, &mut connection, &call)?,
            503 => stopped(trial, server, &mut connection, &call)?,
            status => {
                return Err(Broken::because(format!("a failure was answered {status}: {call:?}")));
            }
        };
        if effect == FailureEffect::Stopped && failing == FailingCall::WriteFull {
            return Err(Broken::because("a full disk is no reason to stop charging"));
        }
        return Ok(effect);
    }
    Ok(FailureEffect::Unnoticed)
}

/// Checks that charging continues after an answer with 500. Repeats the failed request until it is
/// charged, and then sends new requests until one is charged. In each of these two steps, up
/// to [`MAX_THREADS`] answers with 500 are accepted.
fn went_on(
    trial: &mut Trial<'_>,
    server: &Serving,
    connection: &mut Connection,
    failed: &Call,
) -> Result<FailureEffect> {
    for question in [Some(failed.clone()), None] {
        let mut failures = 0;
        loop {
            let call = match &question {
                Some(Call { account, question, repeat_key, .. }) => {
                    trial.ask(connection, *account, *question, repeat_key.clone())
                }
                None => ask_new(trial, connection, 0),
            };
            match status(&call)? {
                200 => break,
                500 if failures < MAX_THREADS => failures += 1,
                503 => return stopped(trial, server, connection, &call),
                status => {
                    let what = format!("after a 500 the next answer is {status}: {call:?}");
                    return Err(Broken::because(what));
                }
            }
        }
    }
    let statuses =
        [status_of(server.address(), "/readyz")?, status_of(server.address(), "/healthz")?];
    if statuses != [200; 2] {
        return Err(Broken::because(format!("after a 500 /readyz and /healthz say {statuses:?}")));
    }
    Ok(FailureEffect::RolledBack)
}

/// Checks that charging has stopped after a 503. No request may be charged, not even a repetition
/// of the failed request, and `/readyz` must report that charging has stopped.
fn stopped(
    trial: &mut Trial<'_>,
    server: &Serving,
    connection: &mut Connection,
    failed: &Call,
) -> Result<FailureEffect> {
    let repeat = trial.ask(connection, failed.account, failed.question, failed.repeat_key.clone());
    let next = ask_new(trial, connection, 0);
    let statuses = [
        status(&repeat)?,
        status(&next)?,
        status_of(server.address(), "/readyz")?,
        status_of(server.address(), "/healthz")?,
    ];
    if statuses != [503, 503, 503, 200] {
        return Err(Broken::because(format!(
            "after a 503 the repeat, another question, /readyz and /healthz say {statuses:?}"
        )));
    }
    Ok(FailureEffect::Stopped)
}

/// Sends a request with a new idempotency key.
fn ask_new(trial: &mut Trial<'_>, connection: &mut Connection, number: u64) -> Call {
    let question = number as usize % trial.world.questions.len();
    let key = trial.name("position");
    trial.ask(connection, 0, question, Some(key.into()))
}

fn status(call: &Call) -> Result<u16> {
    match &call.end {
        End::Answered(answer) => Ok(answer.status),
        End::NoAnswer => Err(Broken::because(format!("a failure left no answer: {call:?}"))),
    }
}
