//! The shutdown of the process: the signals that request it, and its time limit.

use std::io;
use std::pin::pin;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::time::Duration;

use futures_util::future::select;
use tracing::{error, warn};

/// The time limit for the last steps of the shutdown. Before these steps, the shutdown waits for
/// the requests that are being answered, by default at most 5 seconds. So by default, the process
/// ends at most 5 + 4 = 9 seconds after the signal.
const LAST_STEPS: Duration = Duration::from_secs(4);
/// The exit status of a process whose shutdown has exceeded its time limit. It is the status with
/// which the commands of Enrich report an error.
const STUCK: i32 = 2;

/// The time limit of a shutdown. If this value is not dropped within the limit, a thread ends the
/// process with the exit status [`STUCK`], even if a disk or a client does not respond. Charges
/// whose answers were sent are durable by then.
pub(crate) struct TimeLimit {
    /// Dropping this sender ends the thread that watches the limit, so that the thread does not end
    /// the process. `None` if the thread could not be started.
    _running: Option<Sender<()>>,
}

impl TimeLimit {
    /// Starts the time limit: `shutdown_timeout` plus [`LAST_STEPS`].
    pub(crate) fn start(shutdown_timeout: Duration) -> Self {
        Self::start_with(shutdown_timeout + LAST_STEPS, || {
            error!("something is stuck; leaving all the same");
            std::process::exit(STUCK);
        })
    }

    /// Starts a time limit. If the returned value still exists after the time `limit`, calls
    /// `exceeded`.
    fn start_with(limit: Duration, exceeded: impl FnOnce() + Send + 'static) -> Self {
        let (running, dropped) = mpsc::channel();
        let watch = move || {
            if dropped.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
                exceeded();
            }
        };
        match std::thread::Builder::new().name("enrich-end".to_owned()).spawn(watch) {
            Ok(_) => Self { _running: Some(running) },
            Err(error) => {
                warn!(%error, "the end of the process is not watched");
                Self { _running: None }
            }
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The test of a stuck shutdown starts a second process with this environment variable. The
    /// second process is the one that gets stuck.
    const IS_STUCK: &str = "ENRICH_TEST_IS_STUCK";

    #[test]
    fn a_shutdown_in_time_ends_nothing() {
        let (sender, exceeded) = mpsc::channel();
        let limit = TimeLimit::start_with(Duration::from_millis(200), move || {
            let _ = sender.send(());
        });
        drop(limit);
        // The thread that watches the limit ends without calling the closure above. This drops the
        // closure and its `sender`, so `exceeded` is disconnected.
        let waited = exceeded.recv_timeout(Duration::from_secs(10));
        assert_eq!(waited, Err(RecvTimeoutError::Disconnected));
    }

    #[test]
    fn a_shutdown_that_takes_too_long_is_reported() {
        let (sender, exceeded) = mpsc::channel();
        let _limit = TimeLimit::start_with(Duration::from_millis(1), move || {
            let _ = sender.send(());
        });
        assert_eq!(exceeded.recv_timeout(Duration::from_secs(10)), Ok(()));
    }

    #[test]
    fn a_stuck_shutdown_ends_the_process_with_a_failure() {
        if std::env::var_os(IS_STUCK).is_some() {
            let _limit = TimeLimit::start(Duration::ZERO);
            std::thread::sleep(Duration::from_secs(60));
            return;
        }
        let name = "shutdown::tests::a_stuck_shutdown_ends_the_process_with_a_failure";
        let status = std::process::Command::new(std::env::current_exe().unwrap())
            .args([name, "--exact", "--nocapture"])
            .env(IS_STUCK, "1")
            .stdout(std::process::Stdio::null())
            .status()
            .unwrap();
        assert_eq!(status.code(), Some(STUCK));
    }
}
