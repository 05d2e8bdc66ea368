//! Compresses the style sheets, scripts and pictures. Writes a table with the name and the
//! contents of each file, which `src/assets.rs` includes.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use brotli::enc::BrotliEncoderParams;
use flate2::Compression;
use flate2::write::GzEncoder;

const ENDINGS: [&str; 3] = ["css", "js", "svg"];

fn main() -> Result<(), Box<dyn Error>> {
    let mut cargo = io::stdout();
    writeln!(cargo, "cargo::rerun-if-changed=build.rs")?;
    writeln!(cargo, "cargo::rerun-if-changed=assets")?;
    let out = PathBuf::from(std::env::var_os("OUT_DIR").ok_or("cargo gives no OUT_DIR")?);
    let mut files = Vec::new();
    for entry in fs::read_dir("assets")? {
        let path = entry?.path();
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        if ENDINGS.contains(&ending) {
            files.push(path);
        }
    }
    files.sort();
    let mut table = "[\n".to_owned();
    for path in files {
        writeln!(cargo, "cargo::rerun-if-changed={}", path.display())?;
        let name =
            path.file_name().and_then(|name| name.to_str()).ok_or("a name that is no text")?;
        let [gzip, brotli] = ["gz", "br"].map(|ending| out.join(format!("{name}.{ending}")));
        compress(&fs::read(&path)?, &gzip, &brotli)?;
        let files =
            [&path.canonicalize()?, &gzip, &brotli].map(|file| format!("include_bytes!({file:?})"));
        writeln!(table, "({name:?}, {}),", files.join(", "))?;
    }
    table.push(']');
    fs::write(out.join("files.rs"), table)?;
    Ok(())
}

/// Writes the content compressed with gzip to the path `gzip`, and compressed with Brotli to the
/// path `brotli`. Both files depend only on the content, so that builds are reproducible.
fn compress(content: &[u8], gzip: &Path, brotli: &Path) -> Result<(), Box<dyn Error>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(content)?;
    fs::write(gzip, encoder.finish()?)?;
    let mut compressed = Vec::new();
    let parameters = BrotliEncoderParams::default();
    brotli::BrotliCompress(&mut &content[..], &mut compressed, &parameters)?;
    fs::write(brotli, compressed)?;
    Ok(())
}
