//! Lowers the priority of long work that runs at the same time as look-ups.

use std::io;
use std::panic::resume_unwind;
use std::thread;

/// The amount by which the priority of a thread is lowered. If a thread with lowered priority and a
/// normal thread compete for one processor, Linux gives the normal thread nine times as much time.
#[cfg(unix)]
const NICE: i32 = 10;

/// Lowers the priority of the calling thread, and of the threads that it starts later. On Unix
/// systems other than Linux, lowers the priority of the whole process. On other systems, does
/// nothing. If the operating system refuses, logs a warning: the work is also possible at normal
/// priority.
pub fn lower_priority() {
    #[cfg(unix)]
    if let Err(error) = rustix::process::nice(NICE) {
        tracing::warn!(%error, "the priority of this work cannot be lowered");
    }
}

/// Runs `work` on a new thread, and waits for its end. On Linux, the new thread has a lower
/// priority. The work does not run on the calling thread, because a thread whose priority was
/// lowered could not raise it again afterwards.
///
/// # Errors
///
/// When the operating system cannot start a thread.
pub fn at_lower_priority<T: Send>(work: impl FnOnce() -> T + Send) -> io::Result<T> {
    thread::scope(|scope| {
        let lowered = || {
            if cfg!(target_os = "linux") {
                lower_priority();
            }
            work()
        };
        let thread = thread::Builder::new().name("enrich-low".to_owned());
        let thread = thread.spawn_scoped(scope, lowered)?;
        Ok(thread.join().unwrap_or_else(|panic| resume_unwind(panic)))
    })
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn only_the_calling_thread_and_those_that_it_starts_have_the_lower_priority() {
        let usual = rustix::process::nice(0).unwrap();
        let of_new_thread = || thread::spawn(|| rustix::process::nice(0).unwrap()).join().unwrap();
        assert_eq!(at_lower_priority(of_new_thread).unwrap(), (usual + NICE).min(19));
        assert_eq!(rustix::process::nice(0).unwrap(), usual);
    }
}
