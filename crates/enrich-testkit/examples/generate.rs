//! Prints invented records of the native format, one a line.
//!
//! ```text
//! cargo run --release -p enrich-testkit --example generate -- COMPANIES [PEOPLE] > records.jsonl
//! ```
//!
//! So many companies, then so many people who work there; the same ones each time.

use std::io::{BufWriter, Write, stdout};

use enrich_testkit::generate::Generator;

/// Any number would do; this one is kept so that measurements can be compared.
const SEED: u64 = 20_261_121;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut numbers = std::env::args().skip(1).map(|text| text.parse::<u64>());
    let companies = numbers.next().ok_or("say how many companies")??;
    let people = numbers.next().transpose()?.unwrap_or(0);
    let generator = Generator::new(SEED);
    let mut out = BufWriter::new(stdout().lock());
    for index in 0..companies {
        writeln!(out, "{}", generator.company(index))?;
    }
    for index in 0..people {
        writeln!(out, "{}", generator.person(index, companies))?;
    }
    out.flush()?;
    Ok(())
}
