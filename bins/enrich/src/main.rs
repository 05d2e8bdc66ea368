//! The program `enrich`: the service, and the commands for its operator.

use std::process::ExitCode;

/// Each answer allocates many small pieces of memory, on several threads at once. mimalloc is fast
/// at this; see `docs/performance.md`.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    enrich_cli::run()
}
