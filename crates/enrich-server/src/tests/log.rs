//! Collects the log of this process, so that tests can read it.

use std::io::Write;
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;

static LOG: OnceLock<Arc<Mutex<Vec<u8>>>> = OnceLock::new();

#[derive(Clone)]
struct IntoLog(Arc<Mutex<Vec<u8>>>);

impl Write for IntoLog {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Starts to collect the log of this process. Call this function before the code whose log is
/// tested.
pub(super) fn keep_log() {
    LOG.get_or_init(|| {
        let log = Arc::new(Mutex::new(Vec::new()));
        let into = IntoLog(Arc::clone(&log));
        let writer = move || into.clone();
        tracing_subscriber::fmt().json().flatten_event(true).with_writer(writer).init();
        log
    });
}

pub(super) fn logged(request_id: &str) -> Vec<String> {
    let log = LOG.get().unwrap().lock();
    let log = String::from_utf8_lossy(&log);
    let needle = format!("\"request_id\":\"{request_id}\"");
    log.lines().filter(|line| line.contains(&needle)).map(str::to_owned).collect()
}
