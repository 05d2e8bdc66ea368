//! The files of generated companies that `enrich-bench import` loads.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::Context;
use enrich_testkit::generate::Generator;
use serde_json::{Value, json};

/// A prime number, with which the companies are put into an order that looks random: number n of
/// the order is the company `(n * STRIDE) % companies`. The order contains every company, except if
/// the number of companies is a multiple of the prime.
const STRIDE: u64 = 7_368_787;

pub(super) fn write(path: &Path, lines: impl Iterator<Item = String>) -> anyhow::Result<()> {
    let mut file = BufWriter::new(File::create(path).with_context(|| path.display().to_string())?);
    for line in lines {
        writeln!(file, "{line}")?;
    }
    Ok(file.into_inner()?.sync_all()?)
}

/// Returns the lines of a source that overlaps with the first source: each line describes a
/// different company of the first source. The line has the company's domain, the company's name
/// without the legal form, and a new email address that begins with `mailbox`.
pub(super) fn overlapping(
    generator: Generator,
    companies: u64,
    records: u64,
    mailbox: &'static str,
) -> impl Iterator<Item = String> {
    (0..records).map(move |number| {
        let index = number.wrapping_mul(STRIDE) % companies;
        let line: Value = serde_json::from_str(&generator.company(index)).unwrap_or_default();
        let name = line["name"].as_str().unwrap_or_default();
        let name = name.splitn(3, ' ').take(2).collect::<Vec<_>>().join(" ");
        let domain = match &line["domains"][0] {
            Value::String(domain) => domain.clone(),
            _ => String::new(),
        };
        let mut record = json!({
            "type": "company", "id": format!("s{number}"), "name": name, "domains": [domain],
            "country": line["country"], "emails": [format!("{mailbox}@{domain}")],
        });
        for known in ["linkedin", "phones"] {
            if !line[known].is_null() {
                record[known] = line[known].clone();
            }
        }
        record.to_string()
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn the_second_source_describes_each_company_once() {
        let generator = Generator::new(7);
        let domain = |line: &str| {
            let line: Value = serde_json::from_str(line).unwrap();
            line["domains"][0].as_str().unwrap().to_owned()
        };
        let first: HashSet<String> =
            (0..500).map(|index| domain(&generator.company(index))).collect();
        let second: HashSet<String> =
            overlapping(generator, 500, 500, "contact").map(|line| domain(&line)).collect();
        assert_eq!(first, second);
    }
}
