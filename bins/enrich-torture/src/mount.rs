//! File systems that last as long as a torture: a small tmpfs, and an image whose power can be cut.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::ValueEnum;

use crate::setting::run;

/// How often an unmount is tried: a process that was killed may take a moment to let go.
const UNMOUNT_TRIES: u32 = 50;
const UNMOUNT_PAUSE: Duration = Duration::from_millis(20);
const MIB: u64 = 1024 * 1024;

/// What an image is formatted as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FileSystem {
    /// ext4, 256 MiB.
    Ext4,
    /// XFS, 320 MiB; it takes no less than 300.
    Xfs,
}

/// A mounted file system; unmounted when dropped.
#[derive(Debug)]
pub(crate) struct Mounted {
    at: PathBuf,
    image: Option<PathBuf>,
    is_mounted: bool,
}

impl FileSystem {
    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Ext4 => "ext4",
            Self::Xfs => "xfs",
        }
    }

    /// The program that makes one, and its package.
    pub(crate) fn maker(self) -> (&'static str, &'static str) {
        match self {
            Self::Ext4 => ("mkfs.ext4", "e2fsprogs"),
            Self::Xfs => ("mkfs.xfs", "xfsprogs"),
        }
    }
}

impl Mounted {
    /// Makes an image in a folder, and mounts it there.
    pub(crate) fn image(folder: &Path, kind: FileSystem) -> Result<Self> {
        let image = folder.join("disk.img");
        let size = match kind {
            FileSystem::Ext4 => 256 * MIB,
            FileSystem::Xfs => 320 * MIB,
        };
        File::create_new(&image)?.set_len(size)?;
        run(Command::new(kind.maker().0).arg("-q").arg(&image))?;
        let at = mount_point(folder)?;
        let mut mounted = Self { at, image: Some(image), is_mounted: false };
        mounted.mount()?;
        Ok(mounted)
    }

    /// Mounts a tmpfs in a folder.
    pub(crate) fn tmpfs(folder: &Path, size_mib: u64) -> Result<Self> {
        let at = mount_point(folder)?;
        let options = format!("size={size_mib}m");
        run(Command::new("mount").args(["-t", "tmpfs", "-o", &options, "tmpfs"]).arg(&at))?;
        Ok(Self { at, image: None, is_mounted: true })
    }

    /// Where it is mounted.
    pub(crate) fn at(&self) -> &Path {
        &self.at
    }

    /// Cuts its power: from now on nothing reaches the image, not even the log of the file system
    /// (`FS_IOC_SHUTDOWN` with the flag for no flush, which is what `xfs_io` sends unless told
    /// otherwise, to ext4 too).
    pub(crate) fn cut_power(&self) -> Result<()> {
        run(Command::new("xfs_io").args(["-x", "-c", "shutdown"]).arg(&self.at))
    }

    /// Unmounts and mounts again, as a restart does.
    pub(crate) fn remount(&mut self) -> Result<()> {
        self.unmount()?;
        self.mount()
    }

    fn mount(&mut self) -> Result<()> {
        let image = self.image.as_ref().context("a tmpfs cannot be mounted again")?;
        run(Command::new("mount").args(["-o", "loop"]).arg(image).arg(&self.at))?;
        self.is_mounted = true;
        Ok(())
    }

    fn unmount(&mut self) -> Result<()> {
        let mut tries = 0;
        while let Err(error) = run(Command::new("umount").arg(&self.at)) {
            tries += 1;
            if tries == UNMOUNT_TRIES {
                return Err(error);
            }
            thread::sleep(UNMOUNT_PAUSE);
        }
        self.is_mounted = false;
        Ok(())
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        if self.is_mounted && self.unmount().is_err() {
            // Whatever still holds it, the name is free and the rest goes with the holder.
            let _ = run(Command::new("umount").arg("-l").arg(&self.at));
        }
    }
}

fn mount_point(folder: &Path) -> Result<PathBuf> {
    let at = folder.join("disk");
    fs::create_dir(&at)?;
    Ok(at)
}
