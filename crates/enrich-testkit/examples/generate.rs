//! Prints generated records in the native format, one on each line.
//!
//! ```text
//! cargo run --release -p enrich-testkit --example generate -- COMPANIES [PEOPLE] > records.jsonl
//! ```
//!
//! COMPANIES and PEOPLE are the numbers of generated records; without PEOPLE, no people are
//! generated. The people work at these companies. Each run prints the same records.

use std::io::{BufWriter, Write, stdout};

use enrich_testkit::generate::Generator;

/// The seed of the generated records. It is fixed, so that measurements can be compared.
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
