//! Compresses the files that the server serves to browsers. The two files of Swagger UI are
//! extracted from the archive in the crate `utoipa-swagger-ui-vendored`.

use std::borrow::Cow;
use std::error::Error;
use std::fs;
use std::io::{self, Cursor, Read, Write};
use std::path::{Path, PathBuf};

use brotli::enc::BrotliEncoderParams;
use flate2::Compression;
use flate2::write::GzEncoder;
use utoipa_swagger_ui_vendored::SWAGGER_UI_VENDORED;
use zip::ZipArchive;

const VENDORED: [&str; 2] = ["swagger-ui-bundle.js", "swagger-ui.css"];
const OURS: [&str; 5] = [
    "../../docs/openapi.json",
    "src/site/docs.html",
    "src/site/begin.js",
    "src/site/theme.js",
    "src/site/page.css",
];
/// The quality of the Brotli compression, from 0 to 11. A higher quality takes many times as long,
/// and makes the files only 1 % smaller.
const BROTLI_QUALITY: i32 = 9;

fn main() -> Result<(), Box<dyn Error>> {
    let mut cargo = io::stdout();
    writeln!(cargo, "cargo::rerun-if-changed=build.rs")?;
    let out = PathBuf::from(std::env::var_os("OUT_DIR").ok_or("cargo gives no OUT_DIR")?);
    for path in OURS {
        writeln!(cargo, "cargo::rerun-if-changed={path}")?;
        let name = Path::new(path).file_name().ok_or("a file without a name")?;
        prepare(&out.join(name), &fs::read(path)?)?;
    }
    let mut archive = ZipArchive::new(Cursor::new(SWAGGER_UI_VENDORED))?;
    for file in VENDORED {
        let ending = format!("/dist/{file}");
        let name = archive
            .file_names()
            .flatten()
            .find(|name| name.ends_with(&ending))
            .map(Cow::into_owned);
        let name = name.ok_or_else(|| format!("Swagger UI has no {file}"))?;
        let mut content = Vec::new();
        archive.by_name(&name)?.read_to_end(&mut content)?;
        prepare(&out.join(file), &content)?;
    }
    Ok(())
}

/// Writes a file in three forms: plain, compressed with gzip, and compressed with Brotli. The
/// result depends only on the content, so that builds are reproducible.
fn prepare(file: &Path, content: &[u8]) -> Result<(), Box<dyn Error>> {
    let beside = |ending: &str| {
        let mut name = file.as_os_str().to_owned();
        name.push(ending);
        PathBuf::from(name)
    };
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    gzip.write_all(content)?;
    fs::write(beside(".gz"), gzip.finish()?)?;
    let parameters = BrotliEncoderParams { quality: BROTLI_QUALITY, ..Default::default() };
    let mut brotli = Vec::new();
    brotli::BrotliCompress(&mut &content[..], &mut brotli, &parameters)?;
    fs::write(beside(".br"), brotli)?;
    fs::write(file, content)?;
    Ok(())
}
