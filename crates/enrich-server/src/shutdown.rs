//! The shutdown of the process: the signals that request it, and its time limit.

use std::io;
use std::pin::pin;
use std::time::Duration;

use futures_util::future::select;
use tracing::{error, warn};

/// The time limit for the last steps of the shutdown. Before these steps, the shutdown waits for
/// the requests that are being answered, by default at most 5 seconds. So by default, the process
/// ends at most 5 + 4 = 9 seconds after the signal.
const LAST_STEPS: Duration = Duration::from_secs(4);

/// Starts a thread that ends the process after `shutdown_timeout` plus [`LAST_STEPS`], even if a
/// disk or a client does not respond. Charges whose answers were sent are durable by then.
pub(crate) fn limit(shutdown_timeout: Duration) {
    let end = move || {
        std::thread::sleep(shutdown_timeout + LAST_STEPS);
        error!("something is stuck; leaving all the same");
        std::process::exit(0);
    };
    let started = std::thread::Builder::new().name("enrich-end".to_owned()).spawn(end);
    if let Err(error) = started {
        warn!(%error, "the end of the process is not watched");
    }
}

/// Returns a future that waits for SIGTERM or SIGINT. If a signal arrives after this call and
/// before the first poll of the future, the first poll completes the future.
///
/// # Errors
///
/// When the operating system does not accept the signal handlers.
#[cfg(unix)]
pub fn stop_signal() -> io::Result<impl Future<Output = ()>> {
    use actix_web::rt::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        select(pin!(terminate.recv()), pin!(interrupt.recv())).await;
    })
}

/// Returns a future that waits for Ctrl-C.
///
/// # Errors
///
/// On this system, the function never returns an error.
#[cfg(not(unix))]
pub fn stop_signal() -> io::Result<impl Future<Output = ()>> {
    Ok(async {
        if actix_web::rt::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    })
}
