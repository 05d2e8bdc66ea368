//! A fuzzer: passes changed fixtures (test files) to the readers and mappings, and stops at the
//! first panic.
//!
//! ```text
//! cargo run --release -p enrich-import --example fuzz -- FOLDER [INPUTS] [SEED]
//! ```
//!
//! `FOLDER` contains the fixtures, as `crates/enrich-mapping/tests/fixtures` does. Every input is
//! made from one or two of these files by changes of bytes and words. Some inputs are packed
//! (gzip, zstd, bzip2, zip). The program samples each input, detects its format, and reads it to
//! its end in the detected format or in a random one. One input of 16 is parsed as a mapping file
//! instead. A run is repeatable: an input depends only on the fixtures, the seed, and the input's
//! number.
//!
//! The program prints the number of inputs and the greatest memory of the process. An input that
//! causes a panic is written to `fuzz-SEED-NUMBER`, and the exit status is 1.
#![allow(clippy::print_stdout, reason = "an example prints its result")]

use std::error::Error;
use std::fs;
use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use enrich_import::{ImportSource, MapAs, Sampled, Source, preview, sample};
use enrich_mapping::{Detection, Input, Mapping, Sample, Settings, built_ins, detect};
use fastrand::Rng;
use serde_json::Map;

/// Number of inputs after which the progress is printed.
const PROGRESS: u64 = 100_000;
/// Maximum size of an input before it is packed, in bytes.
const MAX_BYTES: usize = 32 * 1024;

/// Texts with a special meaning for a reader, a mapping or a parser.
const WORDS: [&str; 48] = [
    "\"",
    "\"\"",
    "\\\"",
    "'",
    ",",
    ";",
    "\t",
    "|",
    "\n",
    "\r\n",
    "\r",
    "{",
    "}",
    "[",
    "]",
    ":",
    "null",
    "true",
    "-1",
    "1e999",
    "\\ud800",
    "\\u0000",
    "<",
    ">",
    "</",
    "/>",
    "<!--",
    "]]>",
    "<![CDATA[",
    "&amp;",
    "&#x0;",
    "<!ENTITY a \"b\">",
    "=C3=",
    "BEGIN:VCARD\n",
    "END:VCARD\n",
    " ::: ",
    "{1..10}",
    "\u{feff}",
    "\u{1e}",
    "é",
    "\0",
    "name",
    "Website",
    "https://",
    "www.",
    "@",
    "Q5",
    "type",
];

static PANICS: AtomicU64 = AtomicU64::new(0);

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().ok_or("usage: fuzz FOLDER [INPUTS] [SEED]")?;
    let inputs: u64 = arguments.next().map_or(Ok(10_000_000), |text| text.parse())?;
    let seed: u64 = arguments.next().map_or(Ok(1), |text| text.parse())?;
    let files = files(Path::new(&folder))?;
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        PANICS.fetch_add(1, Ordering::Relaxed);
        usual(panic);
    }));
    let started = Instant::now();
    let mut taken = 0_u64;
    for number in 0..inputs {
        let mut rng = Rng::with_seed(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(number));
        let (name, bytes) = input(&files, &mut rng);
        if number % 16 == 15 {
            map_with(&bytes, &mut rng);
        } else {
            taken += read(&name, bytes.clone(), &mut rng);
        }
        if PANICS.load(Ordering::Relaxed) > 0 {
            fs::write(format!("fuzz-{seed}-{number}"), &bytes)?;
            println!("input {number} of seed {seed} ({name}) causes a panic");
            return Ok(ExitCode::FAILURE);
        }
        if (number + 1) % PROGRESS == 0 || number + 1 == inputs {
            let (number, seconds) = (number + 1, started.elapsed().as_secs());
            println!("{number} inputs, {taken} records, {seconds} s, {}", greatest_memory());
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// A fixture, or an input that was made from fixtures: its file name and its content.
type Seed = (String, Vec<u8>);

/// Returns the files below a folder, sorted, and the texts of the built-in mappings.
fn files(folder: &Path) -> Result<Vec<Seed>, Box<dyn Error>> {
    let (mut open, mut found) = (vec![folder.to_path_buf()], Vec::new());
    while let Some(path) = open.pop() {
        if path.is_dir() {
            let inside: Result<Vec<PathBuf>, _> =
                fs::read_dir(path)?.map(|entry| entry.map(|entry| entry.path())).collect();
            open.extend(inside?);
        } else {
            found.push(path);
        }
    }
    found.sort();
    let read = |path: PathBuf| -> Result<Seed, Box<dyn Error>> {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("input").to_owned();
        Ok((name, fs::read(path)?))
    };
    let mut files = found.into_iter().map(read).collect::<Result<Vec<_>, _>>()?;
    if files.is_empty() {
        return Err("the folder has no files".into());
    }
    let texts = built_ins().iter().map(|mapping| mapping.source_text().as_bytes().to_vec());
    files.extend(texts.map(|text| ("mapping.toml".to_owned(), text)));
    Ok(files)
}

/// Makes an input from one or two of `files`.
fn input(files: &[Seed], rng: &mut Rng) -> Seed {
    let pick = |rng: &mut Rng| &files[rng.usize(..files.len())];
    let (name, bytes) = pick(rng);
    let (mut name, mut bytes) = (name.clone(), bytes.clone());
    if rng.u8(..8) == 0 {
        let (_, other) = pick(rng);
        let (end, start) = (rng.usize(..=bytes.len()), rng.usize(..=other.len()));
        bytes.truncate(end);
        bytes.extend_from_slice(&other[start..]);
    }
    for _ in 0..rng.usize(..12) {
        change(&mut bytes, rng);
    }
    bytes.truncate(MAX_BYTES);
    match rng.u8(..16) {
        0 => (name, bytes) = packed(&name, &bytes, rng),
        1 => name = "stdin".to_owned(),
        2 => bytes = bytes.iter().flat_map(|byte| [*byte, 0]).collect(),
        _ => {}
    }
    (name, bytes)
}

/// Changes the bytes at one random place.
fn change(bytes: &mut Vec<u8>, rng: &mut Rng) {
    let at = rng.usize(..=bytes.len());
    let length = rng.usize(..=(bytes.len() - at).min(64));
    match rng.u8(..7) {
        0 => bytes.truncate(at),
        1 => drop(bytes.drain(at..at + length)),
        2 => {
            let word = WORDS[rng.usize(..WORDS.len())].bytes();
            drop(bytes.splice(at..at, word));
        }
        3 => {
            let word = WORDS[rng.usize(..WORDS.len())].bytes();
            drop(bytes.splice(at..at + length, word));
        }
        4 => {
            let repeated: Vec<u8> = bytes[at..at + length].to_vec();
            let times = rng.usize(1..20);
            drop(bytes.splice(at..at, repeated.repeat(times)));
        }
        5 => drop(bytes.splice(at..at, [rng.u8(..)])),
        _ => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << rng.u8(..8);
            }
        }
    }
}

/// Packs the bytes as gzip, Zstandard, bzip2 or zip. About half of the results are then damaged at
/// one place.
fn packed(name: &str, bytes: &[u8], rng: &mut Rng) -> Seed {
    let (ending, mut packed) = match rng.u8(..4) {
        0 => {
            let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            // Writing into memory cannot fail.
            let _ = writer.write_all(bytes);
            (".gz", writer.finish().unwrap_or_default())
        }
        1 => (".zst", zstd::encode_all(bytes, 1).unwrap_or_default()),
        2 => {
            let mut writer = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
            let _ = writer.write_all(bytes);
            (".bz2", writer.finish().unwrap_or_default())
        }
        _ => {
            let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
            for member in 0..rng.u8(1..4) {
                let member = if member == 0 { name.to_owned() } else { format!("{member}.csv") };
                if writer.start_file(member, zip::write::SimpleFileOptions::default()).is_ok() {
                    let _ = writer.write_all(bytes);
                }
            }
            (".zip", writer.finish().map(Cursor::into_inner).unwrap_or_default())
        }
    };
    if rng.bool() {
        change(&mut packed, rng);
    }
    (format!("{name}{ending}"), packed)
}

/// Reads an input as an import does. Returns the number of records.
fn read(name: &str, bytes: Vec<u8>, rng: &mut Rng) -> u64 {
    let source = Source::reader(name, Cursor::new(bytes));
    let Ok(Sampled { sample, source }) = sample(source, Input::default(), 5) else { return 0 };
    let found = sample.ok().and_then(|sample| {
        let records: Vec<Map<_, _>> =
            sample.records.iter().filter_map(|record| record.fields.clone().ok()).collect();
        let keys = if sample.envelope.is_empty() { &sample.names } else { &sample.envelope };
        let seen = Sample {
            file_name: name,
            member: sample.member.as_deref().unwrap_or_default(),
            members: &sample.members,
            kind: sample.kind,
            keys,
            records: &records,
        };
        match detect(&seen) {
            Detection::BuiltIn(mapping, input) => Some((mapping.clone(), input.clone())),
            Detection::Unknown => Mapping::from_synonyms(&sample.names, &records, None)
                .map(|synonyms| (synonyms.mapping, Input::default())),
            Detection::Native | Detection::Several(_) => None,
        }
    });
    let any = |rng: &mut Rng| {
        let mapping = &built_ins()[rng.usize(..built_ins().len())];
        let input = &mapping.inputs()[rng.usize(..mapping.inputs().len())];
        (mapping.clone(), input.clone())
    };
    let chosen = if rng.u8(..4) == 0 { Some(any(rng)) } else { found };
    let map_as = chosen.map(|(mapping, input)| MapAs::new(mapping, input, Settings::default()));
    match preview(ImportSource { source, map_as, limit: u64::MAX }, 1, &mut ()) {
        Ok(preview) => preview.report.read,
        Err(error) => error.report.read,
    }
}

/// Parses the bytes as a mapping file, and maps a record with random values in usual columns.
fn map_with(bytes: &[u8], rng: &mut Rng) {
    let Ok(mapping) = Mapping::from_toml(&String::from_utf8_lossy(bytes)) else { return };
    let word = |rng: &mut Rng| WORDS[rng.usize(..WORDS.len())];
    let columns = ["name", "Company", "website", "Domain", "id", "phone", "status", "country"];
    let record = columns.into_iter().map(|column| (column.to_owned(), word(rng).into())).collect();
    mapping.map(&record, &Settings::default());
}

/// Returns the greatest memory that the process has used, as Linux reports it; an empty text on
/// other systems.
fn greatest_memory() -> String {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM"));
    line.map_or_else(String::new, |line| line.split_whitespace().collect::<Vec<_>>().join(" "))
}
