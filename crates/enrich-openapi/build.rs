//! Takes the two files of Swagger UI that are served out of the archive that a crate keeps of it.

use std::borrow::Cow;
use std::error::Error;
use std::fs;
use std::io::{self, Cursor, Read, Write};
use std::path::Path;

use utoipa_swagger_ui_vendored::SWAGGER_UI_VENDORED;
use zip::ZipArchive;

const FILES: [&str; 2] = ["swagger-ui-bundle.js", "swagger-ui.css"];

fn main() -> Result<(), Box<dyn Error>> {
    writeln!(io::stdout(), "cargo::rerun-if-changed=build.rs")?;
    let out = std::env::var_os("OUT_DIR").ok_or("cargo gives no OUT_DIR")?;
    let mut archive = ZipArchive::new(Cursor::new(SWAGGER_UI_VENDORED))?;
    for file in FILES {
        let ending = format!("/dist/{file}");
        let name = archive
            .file_names()
            .flatten()
            .find(|name| name.ends_with(&ending))
            .map(Cow::into_owned);
        let name = name.ok_or_else(|| format!("Swagger UI has no {file}"))?;
        let mut content = Vec::new();
        archive.by_name(&name)?.read_to_end(&mut content)?;
        fs::write(Path::new(&out).join(file), content)?;
    }
    Ok(())
}
