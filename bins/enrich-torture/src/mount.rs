//! Temporary file systems: a small tmpfs, and an image (a file that is mounted as a disk) whose
//! power can be cut.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use clap::ValueEnum;

use crate::setting::run;

/// Maximum number of attempts to unmount. A killed process may need a moment to release its files.
const UNMOUNT_TRIES: u32 = 50;
const UNMOUNT_PAUSE: Duration = Duration::from_millis(20);
const MIB: u64 = 1024 * 1024;
/// Time limit for `xfs_io` to open the mount.
const SWITCH_PATIENCE: Duration = Duration::from_secs(10);

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FileSystem {
    /// An ext4 file system of 256 MiB.
    Ext4,
    /// An XFS file system of 320 MiB. XFS needs at least 300 MiB.
    Xfs,
}

/// A mounted file system. Dropping this value unmounts it.
#[derive(Debug)]
pub(crate) struct Mounted {
    at: PathBuf,
    image: Option<PathBuf>,
    is_mounted: bool,
}

/// A process of `xfs_io` that waits for the command to cut the power of a mounted image.
///
/// The process is started before the load, because its start takes long on a busy machine. If it
/// were started at the time of the cut, many answers would arrive during its start. All these
/// answers would count as not received.
#[derive(Debug)]
pub(crate) struct Switch {
    waiting: Child,
    at: PathBuf,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Cut {
    /// The time just before `xfs_io` got the command to cut the power. An answer that arrived after
    /// this time counts as not received.
    pub(crate) began: Instant,
    /// The time from the command to cut the power until `xfs_io` had shut down the file system and
    /// had ended.
    pub(crate) took: Duration,
}

impl FileSystem {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Ext4 => "ext4",
            Self::Xfs => "xfs",
        }
    }

    /// Returns the program that creates the file system, and the package that contains this
    /// program.
    pub(crate) fn maker(self) -> (&'static str, &'static str) {
        match self {
            Self::Ext4 => ("mkfs.ext4", "e2fsprogs"),
            Self::Xfs => ("mkfs.xfs", "xfsprogs"),
        }
    }
}

impl Mounted {
    /// Creates an image in a folder: a file with an empty file system. Mounts the image there.
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

    pub(crate) fn tmpfs(folder: &Path, size_mib: u64) -> Result<Self> {
        let at = mount_point(folder)?;
        let options = format!("size={size_mib}m");
        run(Command::new("mount").args(["-t", "tmpfs", "-o", &options, "tmpfs"]).arg(&at))?;
        Ok(Self { at, image: None, is_mounted: true })
    }

    pub(crate) fn at(&self) -> &Path {
        &self.at
    }

    /// Prepares a power cut: starts `xfs_io`, and waits until it has opened the mount.
    pub(crate) fn switch(&self) -> Result<Switch> {
        // `xfs_io` gets a high priority, so that the busy server and its clients don't delay it.
        let mut command = Command::new("nice");
        command.args(["-n", "-20", "xfs_io", "-x"]).arg(&self.at).stdin(Stdio::piped());
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let waiting = child.context("xfs_io cannot be started")?;
        let mut switch = Switch { waiting, at: self.at.clone() };
        let begin = Instant::now();
        while !switch.holds_the_mount()? {
            if begin.elapsed() > SWITCH_PATIENCE || switch.waiting.try_wait()?.is_some() {
                bail!("xfs_io did not open {}", switch.at.display());
            }
            thread::sleep(Duration::from_millis(1));
        }
        Ok(switch)
    }

    /// Unmounts the file system and mounts it again, as a restart of the machine does.
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

impl Switch {
    /// Cuts the power. After this call, nothing is written to the image any more, not even the
    /// journal of the file system. For this, `xfs_io` sends the ioctl `FS_IOC_SHUTDOWN` with its
    /// default, the no-flush flag. This works for XFS and for ext4.
    pub(crate) fn cut(mut self) -> Result<Cut> {
        let mut input = self.waiting.stdin.take().context("a pipe to xfs_io")?;
        let began = Instant::now();
        input.write_all(b"shutdown\n")?;
        drop(input);
        let ended = self.waiting.wait()?;
        let took = began.elapsed();
        // `xfs_io` exits with 0 even if the ioctl has failed. A reliable sign of the cut is that
        // no file can be created any more.
        let is_cut = File::create(self.at.join("after-the-cut")).is_err();
        ensure!(
            ended.success() && is_cut,
            "xfs_io ({ended}) has not shut {} down",
            self.at.display()
        );
        Ok(Cut { began, took })
    }

    /// Whether `xfs_io` has opened the mount.
    fn holds_the_mount(&self) -> Result<bool> {
        let open = Path::new("/proc").join(self.waiting.id().to_string()).join("fd");
        let at = self.at.canonicalize()?;
        for file in fs::read_dir(open)? {
            // If the link cannot be read, `xfs_io` has closed this file meanwhile, so the file was
            // not the mount.
            if fs::read_link(file?.path()).is_ok_and(|target| target == at) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl Drop for Switch {
    fn drop(&mut self) {
        // Without a kill, a waiting `xfs_io` would keep the mount in use. Errors are ignored,
        // because after a power cut `xfs_io` has already ended.
        let _ = self.waiting.kill();
        let _ = self.waiting.wait();
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        if self.is_mounted && self.unmount().is_err() {
            // If the file system is still in use, `umount -l` removes it from its folder
            // immediately. The operating system ends the mount when nothing uses it any more.
            let _ = run(Command::new("umount").arg("-l").arg(&self.at));
        }
    }
}

fn mount_point(folder: &Path) -> Result<PathBuf> {
    let at = folder.join("disk");
    fs::create_dir(&at)?;
    Ok(at)
}
