//! The service and its operator's commands in one binary.

use std::process::ExitCode;

/// Answers are many small pieces of memory on every worker; see `docs/performance.md`.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    enrich_cli::run()
}
