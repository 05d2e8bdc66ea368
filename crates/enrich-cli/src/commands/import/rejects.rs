//! The file into which rejected lines are written.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::super::Failure;

/// The file of rejected lines, opened for writing. It contains records of the input, so only its
/// owner may read it.
pub(super) struct Rejects(BufWriter<File>);

impl Rejects {
    /// Creates the file at `path`, or replaces an existing file. Returns an error if the file is an
    /// input of the import.
    pub(super) fn create(path: &Path, inputs: &[PathBuf]) -> Result<Self, Failure> {
        if let Ok(target) = path.canonicalize()
            && inputs.iter().any(|input| input.canonicalize().is_ok_and(|input| input == target))
        {
            return Err(Failure::Impossible(format!(
                "{} is to be imported; write rejected lines to another file",
                path.display()
            )));
        }
        let file = open(path).map_err(|error| {
            Failure::Impossible(format!("{} cannot be written: {error}", path.display()))
        })?;
        Ok(Self(BufWriter::new(file)))
    }

    pub(super) fn writer(&mut self) -> &mut (dyn Write + Send) {
        &mut self.0
    }
}

fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path)?;
    // An existing file may be readable for other users, so its mode is set to 0600. The modes of
    // pipes and terminals are not changed.
    #[cfg(unix)]
    if file.metadata()?.is_file() {
        file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    }
    Ok(file)
}
