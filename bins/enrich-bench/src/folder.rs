//! The prepared data folders, and the copies that a run uses.
//!
//! A run uses a copy of a prepared folder. The charges of a run change the ledger, so the ledger
//! is copied. Thus every run begins with the same ledger. No run changes the look-up data
//! (`directory.sqlite`), and this file may be large. So the copied folder has only a link to the
//! file in the original folder.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, symlink};
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use enrich_secrets::SECRET_FILE;

use crate::generated::Generated;

/// The name of the file with the look-up data. A copied folder has only a link to this file in the
/// original folder.
pub(crate) const SHARED: &str = "directory.sqlite";

/// The folder that contains all prepared data folders. It also contains files about each data
/// folder, such as the API keys of its accounts.
#[derive(Clone, Debug)]
pub(crate) struct Scratch(PathBuf);

/// What a data folder contains: how many companies, and how many charges. These numbers identify
/// the folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FolderSpec {
    pub(crate) companies: u64,
    /// The number of charges in the ledger before the measurement.
    pub(crate) charges: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct Keys {
    /// The API keys of the accounts that share the load.
    pub(crate) many: Vec<String>,
    /// The API key of one more account, for workloads that use a single account.
    pub(crate) hot: String,
}

/// A data folder for the workloads: its data, and the keys of its accounts.
#[derive(Clone, Debug)]
pub(crate) struct World {
    pub(crate) spec: FolderSpec,
    pub(crate) generated: Generated,
    pub(crate) keys: Keys,
}

impl Scratch {
    /// Opens the folder at `path`. Creates the folder if it does not exist.
    pub(crate) fn at(path: &Path) -> anyhow::Result<Self> {
        fs::create_dir_all(path).with_context(|| path.display().to_string())?;
        Ok(Self(path.canonicalize()?))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn folder(&self, spec: FolderSpec) -> PathBuf {
        self.0.join(spec.name())
    }

    /// Whether a folder was prepared completely.
    pub(crate) fn is_ready(&self, spec: FolderSpec) -> bool {
        self.beside(spec, "ready").exists()
    }

    pub(crate) fn set_ready(&self, spec: FolderSpec) -> anyhow::Result<()> {
        Ok(fs::write(self.beside(spec, "ready"), "")?)
    }

    /// Returns the keys of a folder's accounts; `None` if they are not saved yet.
    pub(crate) fn keys(&self, spec: FolderSpec) -> anyhow::Result<Option<Keys>> {
        let path = self.beside(spec, "keys");
        match fs::read_to_string(&path) {
            Ok(text) => Ok(Some(Keys::read(&text).with_context(|| path.display().to_string())?)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).with_context(|| path.display().to_string()),
        }
    }

    /// Saves the keys of a folder's accounts in a file that only the file's owner may read.
    pub(crate) fn keep_keys(&self, spec: FolderSpec, keys: &Keys) -> anyhow::Result<()> {
        let path = self.beside(spec, "keys");
        let mut options = OpenOptions::new();
        let file = options.write(true).create(true).truncate(true).mode(0o600).open(&path);
        let mut file = file.with_context(|| path.display().to_string())?;
        file.write_all(keys.written().as_bytes())?;
        Ok(file.sync_all()?)
    }

    fn beside(&self, spec: FolderSpec, kind: &str) -> PathBuf {
        self.0.join(format!("{}.{kind}", spec.name()))
    }
}

impl FolderSpec {
    fn name(self) -> String {
        match self.charges {
            0 => format!("companies-{}", self.companies),
            charges => format!("companies-{}-charges-{charges}", self.companies),
        }
    }

    pub(crate) fn description(self) -> String {
        let companies = format!("{} companies", in_words(self.companies));
        match self.charges {
            0 => companies,
            charges => format!("{companies}, {} charges before", in_words(charges)),
        }
    }
}

/// Returns a number in a short form for people: `10,000`, `1 million`.
fn in_words(number: u64) -> String {
    const MILLION: u64 = 1_000_000;
    match number {
        0..=999 => number.to_string(),
        _ if number.is_multiple_of(MILLION) => format!("{} million", number / MILLION),
        _ => format!("{},{:03}", in_words(number / 1000), number % 1000),
    }
}

impl Keys {
    fn read(text: &str) -> anyhow::Result<Self> {
        let mut many: Vec<String> = text.lines().map(str::to_owned).collect();
        let hot = many.pop().context("it holds no keys")?;
        ensure!(!many.is_empty(), "it holds one key alone");
        let is_like_others = |key: &String| key.len() == hot.len();
        ensure!(many.iter().all(is_like_others), "its keys differ in length");
        Ok(Self { many, hot })
    }

    fn written(&self) -> String {
        let keys = self.many.iter().chain([&self.hot]);
        keys.map(|key| format!("{key}\n")).collect()
    }
}

/// Creates a data folder at `copy`, with copies of `original`'s files, but with only a link to its
/// look-up data (`directory.sqlite`). Syncs the copy to disk, so that later writes of the operating
/// system do not disturb the measurement.
pub(crate) fn copy(original: &Path, copy: &Path) -> anyhow::Result<()> {
    DirBuilder::new().mode(0o700).create(copy).with_context(|| copy.display().to_string())?;
    for entry in fs::read_dir(original).with_context(|| original.display().to_string())? {
        let name = entry?.file_name();
        let (from, to) = (original.join(&name), copy.join(&name));
        if name.to_str() == Some(SHARED) {
            symlink(from.canonicalize()?, to)?;
        } else if !name.to_string_lossy().starts_with(SHARED) {
            fs::copy(&from, &to).with_context(|| from.display().to_string())?;
            File::open(&to)?.sync_all()?;
        }
    }
    Ok(File::open(copy)?.sync_all()?)
}

/// Creates a data folder without accounts at `copy`, for a server whose accounts are in PostgreSQL.
/// The new folder has a copy of the `secret.key` of `original`, and a link to its
/// `directory.sqlite`.
pub(crate) fn copy_node(original: &Path, copy: &Path) -> anyhow::Result<()> {
    DirBuilder::new().mode(0o700).create(copy).with_context(|| copy.display().to_string())?;
    symlink(original.join(SHARED).canonicalize()?, copy.join(SHARED))?;
    fs::copy(original.join(SECRET_FILE), copy.join(SECRET_FILE))?;
    Ok(File::open(copy)?.sync_all()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: FolderSpec = FolderSpec { companies: 10_000, charges: 0 };

    #[test]
    fn folders_are_told_by_what_they_hold() {
        assert_eq!(
            (SMALL.name().as_str(), SMALL.description().as_str()),
            ("companies-10000", "10,000 companies")
        );
        let large = FolderSpec { companies: 10_000_000, charges: 2_500_000 };
        assert_eq!(large.name(), "companies-10000000-charges-2500000");
        assert_eq!(large.description(), "10 million companies, 2,500,000 charges before");
    }

    #[test]
    fn keys_are_kept_for_their_owner_alone() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let scratch = Scratch::at(folder.path()).unwrap();
        assert!(scratch.keys(SMALL).unwrap().is_none());
        let keys = Keys { many: vec!["a".to_owned(), "b".to_owned()], hot: "c".to_owned() };
        scratch.keep_keys(SMALL, &keys).unwrap();
        let read = scratch.keys(SMALL).unwrap().unwrap();
        assert_eq!((read.many, read.hot), (keys.many, keys.hot));
        let mode = fs::metadata(scratch.beside(SMALL, "keys")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn a_copy_has_its_own_ledger_and_the_same_directory() {
        let folder = tempfile::tempdir().unwrap();
        let (original, other) = (folder.path().join("a"), folder.path().join("b"));
        fs::create_dir(&original).unwrap();
        for name in ["directory.sqlite", "directory.sqlite-wal", "ledger.sqlite", "secret.key"] {
            fs::write(original.join(name), name).unwrap();
        }
        copy(&original, &other).unwrap();
        fs::write(other.join("ledger.sqlite"), "changed").unwrap();
        assert_eq!(fs::read_to_string(original.join("ledger.sqlite")).unwrap(), "ledger.sqlite");
        assert!(fs::symlink_metadata(other.join("directory.sqlite")).unwrap().is_symlink());
        assert_eq!(fs::read_dir(&other).unwrap().count(), 3);
        assert!(copy(&original, &other).is_err(), "it is there already");
    }
}
