//! The log: lines on standard error.
//!
//! The crates of Enrich log up to the level of the settings, and all other crates log only
//! warnings. The HTTP layer logs nothing, because its messages contain what callers send.

use std::io;
use std::panic::PanicHookInfo;

use clap::ValueEnum;
use serde::Deserialize;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::{SubscriberInitExt, TryInitError};
use tracing_subscriber::{Layer, fmt, registry};

/// How a line of the log looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LogFormat {
    /// Lines of text for people.
    Text,
    /// One JSON object per line.
    Json,
}

/// How much is logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LogLevel {
    /// Failures only.
    Error,
    /// Also conditions that somebody should examine.
    Warn,
    /// Also normal events, such as the start and the end.
    Info,
    /// Also details for finding a fault.
    Debug,
}

/// Starts the log. If the program panics, the log shows only the place in the source code. The
/// message of the panic is left out, because it may contain an input.
///
/// # Errors
///
/// When the log was already started.
pub(crate) fn begin(format: LogFormat, level: LogLevel) -> Result<(), TryInitError> {
    let level = match level {
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Debug => LevelFilter::DEBUG,
    };
    let targets = Targets::new()
        .with_default(LevelFilter::WARN.min(level))
        .with_target("enrich", level)
        .with_target("actix_http", LevelFilter::OFF);
    let layer = match format {
        LogFormat::Text => fmt::layer().with_writer(io::stderr).with_ansi(false).boxed(),
        LogFormat::Json => fmt::layer().json().flatten_event(true).with_writer(io::stderr).boxed(),
    };
    registry().with(layer.with_filter(targets)).try_init()?;
    std::panic::set_hook(Box::new(log_panic));
    Ok(())
}

fn log_panic(info: &PanicHookInfo<'_>) {
    let place = info.location().map(ToString::to_string).unwrap_or_default();
    tracing::error!(place, "panicked");
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::Arc;

    use parking_lot::Mutex;

    use super::*;

    #[derive(Clone, Default)]
    struct Captured(Arc<Mutex<Vec<u8>>>);

    impl Write for Captured {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_panic_is_logged_by_its_place_alone() {
        let kept = Captured::default();
        let writer = kept.clone();
        let subscriber = fmt().with_ansi(false).with_writer(move || writer.clone()).finish();
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(log_panic));
        let panicked = tracing::subscriber::with_default(subscriber, || {
            std::panic::catch_unwind(|| panic!("ada@quill.example is an input"))
        });
        std::panic::set_hook(before);
        assert!(panicked.is_err());
        let said = String::from_utf8(kept.0.lock().clone()).unwrap();
        assert!(said.contains("telemetry.rs") && !said.contains("ada@"), "{said}");
    }
}
