//! The file that rejected lines are written to.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::super::Failure;

/// The file, opened. It holds records as they were given, so its owner alone may read it.
pub(super) struct Rejects(BufWriter<File>);

impl Rejects {
    /// Makes the file, in place of one that is there, unless that is to be imported itself.
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

    /// Where the import writes.
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
    // A file that was there has kept its mode. What is no file, a pipe or a terminal, keeps it.
    #[cfg(unix)]
    if file.metadata()?.is_file() {
        file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    }
    Ok(file)
}
