//! Style sheets and scripts, embedded in the binary.
//!
//! Each path contains a hash of the content, so that browsers may cache the file forever.

use std::sync::LazyLock;

use crate::fault::Fault;
use crate::http::{Response, ResponseBody};
use crate::page_context::PageContext;

pub(crate) const ROOT: &str = "/account/assets/";

/// A file: its name, and its content in three forms: plain, compressed with gzip, and compressed
/// with Brotli.
type File = (&'static str, &'static [u8], &'static [u8], &'static [u8]);

static FILES: &[File] = &include!(concat!(env!("OUT_DIR"), "/files.rs"));

/// Number of hexadecimal digits of the hash in a path; 16 digits are 64 bits.
const DIGITS: usize = 16;

/// The hash of each file's content, in the order of [`FILES`].
static HASHES: LazyLock<Vec<String>> = LazyLock::new(|| {
    FILES.iter().map(|(_, plain, ..)| blake3::hash(plain).to_hex()[..DIGITS].to_owned()).collect()
});

/// Returns the URL path of an asset. The path contains the hash of the content. The templates call
/// this function.
pub(crate) fn path(name: &str) -> String {
    let at = FILES.iter().position(|(known, ..)| *known == name);
    let hash = at.and_then(|at| HASHES.get(at)).map_or("", String::as_str);
    format!("{ROOT}{hash}/{name}")
}

pub(crate) async fn show(context: &PageContext<'_>) -> Result<Response, Fault> {
    match context.path_parameters.as_slice() {
        [hash, name] => file(hash, name).ok_or(Fault::NoSuchPage),
        _ => Err(Fault::NoSuchPage),
    }
}

/// Returns the response with the file `name`; `None` if there is no such file, or if `hash` is not
/// the hash of its content.
fn file(hash: &str, name: &str) -> Option<Response> {
    let mut files = HASHES.iter().zip(FILES);
    let (_, (_, plain, gzip, brotli)) =
        files.find(|(known, (file, ..))| *known == hash && *file == name)?;
    let content_type = match name.rsplit_once('.')?.1 {
        "css" => "text/css; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "svg" => "image/svg+xml",
        _ => return None,
    };
    let body = ResponseBody::File { plain, gzip, brotli };
    let response = Response::new(200, content_type, body);
    Some(response.with("cache-control", "public, max-age=31536000, immutable"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named() -> Vec<String> {
        let templates =
            [include_str!("../templates/base.html"), include_str!("../templates/overview.html")];
        let templates = templates.concat();
        let pieces = templates.split("assets::path(\"").skip(1);
        pieces.map(|piece| piece.split('"').next().unwrap().to_owned()).collect()
    }

    #[test]
    fn every_file_that_a_page_names_is_there() {
        assert!(named().len() > 4);
        for name in named() {
            let path = path(&name);
            let (hash, _) = path.strip_prefix("/account/assets/").unwrap().split_once('/').unwrap();
            assert_eq!(hash.len(), DIGITS, "{path}");
            assert!(file(hash, &name).is_some(), "{path}");
            assert!(file("0000000000000000", &name).is_none());
        }
    }

    #[test]
    fn nothing_else_of_the_folder_is_served() {
        for name in ["README.md", "pico.LICENSE", "../Cargo.toml", "none.css"] {
            assert!(file("", name).is_none(), "{name}");
        }
    }
}
