//! The hash index in a file beside the directory's database file. A server can use it immediately
//! after a restart.
//!
//! The header of the file names the state of the directory for which the file is valid. If the
//! directory has another state, the file is ignored and later replaced. After the header come the
//! buckets of the hash table.
//!
//! A load (one import) changes the file in place. First it writes the changed buckets and syncs
//! them. Then it writes the header with the new state. No entry is ever removed. If an identifier
//! has changed, its entry becomes [`Entry::Elsewhere`]: look-ups then read the table `identifier`
//! of the database file instead. This gives the right result in the old state and in the new state,
//! because that table is a part of the directory itself. So at every moment, the buckets are valid
//! for the state in the header. This is true even after a crash, and for a process that reads the
//! file at the same time.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use enrich_core::{Confidence, DirectoryRevision, SubjectId};
use enrich_store_sqlite::RefreshGate;
use rusqlite::Connection;

use super::table::{BUCKET_BYTES, Bucket, Entry, Table, fingerprint, home_of};
use super::{HashIndex, HashKeys};
use crate::directory::view::revision_of;

/// The first bytes of the file. If the layout or the hash function changes, these bytes must change
/// too.
const MAGIC: [u8; 8] = *b"EnrHash1";
/// The size of the header in bytes: its fields, the hash of the fields, and unused bytes.
const HEADER_BYTES: usize = 128;
const FIELD_BYTES: usize = 64;
/// The number of buckets that are read and written together: 4 KiB.
const BLOCK: usize = 64;

/// A state of the directory. Two directories with the same state have the same content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DirectoryState {
    pub(crate) revision: DirectoryRevision,
    /// A random value that was stored with the last change of the directory; `None` if an earlier
    /// version of the program made this change, before such values were stored.
    change_id: Option<[u8; 16]>,
}

impl DirectoryState {
    pub(crate) fn read(connection: &Connection) -> rusqlite::Result<Self> {
        let state = "SELECT generation, change_id FROM state";
        connection.prepare_cached(state)?.query_row([], |row| {
            let change_id = row.get_ref(1)?.as_blob()?.try_into().ok();
            Ok(Self { revision: revision_of(row)?, change_id })
        })
    }

    /// Whether an index of this state can be stored. The file of the index must contain the random
    /// value of the last change, so the value must be known.
    pub(super) fn is_known(&self) -> bool {
        self.change_id.is_some()
    }
}

/// A change of an identifier's entry in the stored index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EntryChange {
    pub(super) hash: u64,
    /// The subject (company or person) that now has the identifier, and its confidence. `None` if
    /// the load has taken the identifier from a subject, or has changed it several times. With
    /// `None`, the entry becomes [`Entry::Elsewhere`]: it then gives no subject, and look-ups read
    /// the table `identifier` instead.
    pub(super) added: Option<(SubjectId, Confidence)>,
}

struct Header {
    state: DirectoryState,
    keys: HashKeys,
    /// Two numbers: the number of buckets, and the number of changes that can still be made. A
    /// change is a new entry, or an entry that becomes [`Entry::Elsewhere`].
    size: (usize, usize),
}

/// Returns the path of the stored hash index of the directory at `directory`.
fn path_of(directory: &Path) -> PathBuf {
    directory.with_extension("index")
}

/// Removes the stored hash index. The importer calls this after every write that may have removed
/// values. The file contains parts of the hashes of identifiers, and the secret keys of these
/// hashes. A reader of an outdated file could test whether the directory had a removed identifier.
pub(crate) fn remove(directory: &Path) -> io::Result<()> {
    match fs::remove_file(path_of(directory)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Reads the stored hash index. Returns `None` if the file is not valid for this state of the
/// directory, or cannot be read.
pub(super) fn load(directory: &Path, state: &DirectoryState) -> Option<HashIndex> {
    let mut file = File::open(path_of(directory)).ok()?;
    let Header { keys, size, .. } = Header::of_state(&mut file, state)?;
    let table = Table::read(&mut BufReader::with_capacity(1 << 20, file), size).ok()?;
    Some(HashIndex { revision: state.revision, keys, table, refresh_gate: RefreshGate::default() })
}

/// Returns the secret keys with which the stored hash index hashes identifiers; `None` if the file
/// is not valid for this state of the directory.
pub(super) fn keys(directory: &Path, state: &DirectoryState) -> Option<HashKeys> {
    let mut file = File::open(path_of(directory)).ok()?;
    Header::of_state(&mut file, state).map(|header| header.keys)
}

/// Writes the hash index of a state to a new file. The new file then replaces the old one.
pub(super) fn store(directory: &Path, index: &HashIndex, state: &DirectoryState) -> io::Result<()> {
    let path = path_of(directory);
    // The name of the new file contains the process id, because other processes may write an index
    // at the same time.
    let new = path.with_extension(format!("index.{}", std::process::id()));
    let written = (|| {
        let file = enrich_secrets::private_file().create(true).truncate(true).open(&new)?;
        let mut file = BufWriter::with_capacity(1 << 20, file);
        let header = Header { state: *state, keys: index.keys, size: index.table.size() };
        file.write_all(&header.to_bytes())?;
        index.table.write(&mut file)?;
        file.into_inner()?.sync_data()?;
        fs::rename(&new, &path)
    })();
    if written.is_err() {
        // If the removal fails too, its error is ignored: the error of the write is returned.
        let _ = fs::remove_file(&new);
    }
    written
}

/// Changes the stored hash index, which is valid for the state `from`, so that it is valid for the
/// state `to`. Returns `false` if this is not possible: the file is not valid for the state `from`,
/// or has no room for new entries.
pub(super) fn change(
    directory: &Path,
    [from, to]: [&DirectoryState; 2],
    changes: &mut [EntryChange],
) -> io::Result<bool> {
    let mut file = OpenOptions::new().read(true).write(true).open(path_of(directory))?;
    let Some(header) = Header::of_state(&mut file, from) else { return Ok(false) };
    let (count, mut room) = header.size;
    // After sorting, changes in the same block follow one another, so each block is read and
    // written once.
    changes.sort_unstable_by_key(|change| change.hash);
    let mut buckets = StoredBuckets { file, count, block: None };
    for change in changes {
        if room == 0 || !buckets.change(change, &mut room)? {
            return Ok(false);
        }
    }
    buckets.write_block()?;
    let StoredBuckets { mut file, .. } = buckets;
    file.sync_data()?;
    let header = Header { state: *to, size: (count, room), ..header };
    file.seek(SeekFrom::Start(0))?;
    file.write_all(&header.to_bytes())?;
    file.sync_data()?;
    Ok(true)
}

impl Header {
    /// Reads the header of a file, if the file is complete and valid for this state.
    fn of_state(file: &mut File, state: &DirectoryState) -> Option<Self> {
        let mut bytes = [0; HEADER_BYTES];
        file.read_exact(&mut bytes).ok()?;
        let header = Self::from_bytes(&bytes).filter(|header| header.state == *state)?;
        let length = header.size.0.checked_mul(BUCKET_BYTES)?.checked_add(HEADER_BYTES)?;
        (file.metadata().ok()?.len() == length as u64).then_some(header)
    }

    fn to_bytes(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = Vec::with_capacity(HEADER_BYTES);
        bytes.extend(MAGIC);
        bytes.extend(self.state.revision.0.to_le_bytes());
        bytes.extend(self.state.change_id.unwrap_or_default());
        bytes.extend(self.keys.0.map(u64::to_le_bytes).concat());
        bytes.extend([self.size.0, self.size.1].map(|size| (size as u64).to_le_bytes()).concat());
        bytes.extend(blake3::hash(&bytes).as_bytes());
        let mut header = [0; HEADER_BYTES];
        for (to, byte) in header.iter_mut().zip(bytes) {
            *to = byte;
        }
        header
    }

    fn from_bytes(bytes: &[u8; HEADER_BYTES]) -> Option<Self> {
        let (fields, rest) = bytes.split_at(FIELD_BYTES);
        if !rest.starts_with(blake3::hash(fields).as_bytes()) || !fields.starts_with(&MAGIC) {
            return None;
        }
        let number = |at: usize| -> Option<u64> {
            Some(u64::from_le_bytes(*fields.get(at..)?.first_chunk()?))
        };
        let revision = DirectoryRevision(number(8)?);
        let change_id = Some(*fields.get(16..)?.first_chunk()?);
        let size = (usize::try_from(number(48)?).ok()?, usize::try_from(number(56)?).ok()?);
        let keys = HashKeys([number(32)?, number(40)?]);
        (size.0 > 0).then_some(Self { state: DirectoryState { revision, change_id }, keys, size })
    }
}

/// The buckets in a file. Only one block of them is in memory.
struct StoredBuckets {
    file: File,
    count: usize,
    block: Option<Block>,
}

struct Block {
    number: usize,
    bytes: Vec<u8>,
    is_changed: bool,
}

impl StoredBuckets {
    /// Changes the entry of an identifier, or inserts an entry if there is none. Returns `false` if
    /// no bucket near the identifier's own bucket has space.
    ///
    /// This method does the same as [`Table::insert`], with one difference: the table may already
    /// have an entry with the same fingerprint, of this identifier or of another one. Then that
    /// entry becomes [`Entry::Elsewhere`], and nothing is inserted.
    fn change(&mut self, change: &EntryChange, room: &mut usize) -> io::Result<bool> {
        let (home, fingerprint) = (home_of(change.hash, self.count), fingerprint(change.hash));
        let reach = self.get(home)?.reach;
        let mut is_there = false;
        for distance in 0..=reach {
            let at = self.behind(home, distance);
            let mut bucket = self.get(at)?;
            let Some(entry) = bucket.get(fingerprint) else { continue };
            is_there = true;
            if entry != Entry::Elsewhere {
                bucket.confuse(fingerprint);
                self.set(at, &bucket)?;
                // If an entry is `Elsewhere`, its look-ups read the table `identifier`, which is
                // slower. To limit the number of such entries, each one takes room like a new
                // entry. When no room is left, the hash index is built again.
                *room = room.saturating_sub(1);
            }
        }
        if is_there {
            return Ok(true);
        }
        let (subject, confidence) = change.added.unwrap_or((SubjectId(u64::MAX), Confidence::MIN));
        for distance in 0..=u8::MAX {
            let at = self.behind(home, distance);
            let mut bucket = self.get(at)?;
            bucket.confuse(fingerprint);
            let is_inserted = bucket.insert(fingerprint, subject, confidence);
            self.set(at, &bucket)?;
            if is_inserted {
                let mut first = self.get(home)?;
                first.reach = first.reach.max(distance);
                self.set(home, &first)?;
                *room = room.saturating_sub(1);
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn behind(&self, home: usize, distance: u8) -> usize {
        (home + usize::from(distance)) % self.count
    }

    fn get(&mut self, at: usize) -> io::Result<Bucket> {
        let bytes = self.block_of(at)?.bytes.as_chunks().0;
        bytes.get(at % BLOCK).map(Bucket::from_bytes).ok_or(io::ErrorKind::UnexpectedEof.into())
    }

    fn set(&mut self, at: usize, bucket: &Bucket) -> io::Result<()> {
        let block = self.block_of(at)?;
        let (place, bytes) = (at % BLOCK * BUCKET_BYTES, bucket.to_bytes());
        if let Some(held) = block.bytes.get_mut(place..place + BUCKET_BYTES)
            && held != bytes
        {
            held.copy_from_slice(&bytes);
            block.is_changed = true;
        }
        Ok(())
    }

    fn block_of(&mut self, at: usize) -> io::Result<&mut Block> {
        let number = at / BLOCK;
        if self.block.as_ref().is_none_or(|block| block.number != number) {
            self.write_block()?;
            let length = (self.count - number * BLOCK).min(BLOCK) * BUCKET_BYTES;
            let mut bytes = vec![0; length];
            self.seek(number)?;
            self.file.read_exact(&mut bytes)?;
            self.block = Some(Block { number, bytes, is_changed: false });
        }
        self.block.as_mut().ok_or(io::ErrorKind::UnexpectedEof.into())
    }

    /// Writes the block in memory if it has changed.
    fn write_block(&mut self) -> io::Result<()> {
        let Some(block) = self.block.take().filter(|block| block.is_changed) else { return Ok(()) };
        self.seek(block.number)?;
        self.file.write_all(&block.bytes)
    }

    fn seek(&mut self, block: usize) -> io::Result<()> {
        let place = HEADER_BYTES + block * BLOCK * BUCKET_BYTES;
        self.file.seek(SeekFrom::Start(place as u64)).map(drop)
    }
}
