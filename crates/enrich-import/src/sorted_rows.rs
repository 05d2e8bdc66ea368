//! Sorts rows by a key, in a temporary file if there are many.
//!
//! Rows are sorted in memory in blocks. Each block is written to the file as a run, a sequence of
//! sorted rows. If the first key of a block is not smaller than the last key in the file, the
//! block becomes a part of the last run. So rows that are already sorted make a single run. Rows
//! with the same key keep their order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::sync::Arc;

use rawzip::{FileReader, RangeReader};

/// Maximum size of a block in memory, in bytes.
const MAX_BLOCK_BYTES: usize = 16 * 1024 * 1024;
/// Size of the read buffer of each run (sorted sequence of rows), in bytes.
const RUN_BUFFER_BYTES: usize = 32 * 1024;

/// A row: its key, and its content.
pub(crate) type KeyedRow = (Vec<u8>, Vec<u8>);

/// Rows that are being sorted.
pub(crate) struct Sorter {
    block: Block,
    max_block_bytes: usize,
    file: Option<BufWriter<File>>,
    /// The positions of the runs (sorted sequences of rows) in the file.
    runs: Vec<Range<u64>>,
    /// The last key in the file.
    last_key: Vec<u8>,
}

impl Default for Sorter {
    fn default() -> Self {
        Self::with_block_bytes(MAX_BLOCK_BYTES)
    }
}

impl Sorter {
    fn with_block_bytes(max_block_bytes: usize) -> Self {
        Self {
            block: Block::default(),
            max_block_bytes,
            file: None,
            runs: Vec::new(),
            last_key: Vec::new(),
        }
    }

    pub(crate) fn add(&mut self, key: &[u8], content: &[u8]) -> io::Result<()> {
        self.block.add(key, content)?;
        if self.block.bytes() >= self.max_block_bytes {
            self.write_block()?;
        }
        Ok(())
    }

    /// Returns the rows in the order of their keys.
    pub(crate) fn sorted(mut self) -> io::Result<SortedRows> {
        let mut runs = Vec::new();
        if let Some(writer) = self.file.take() {
            let file = writer.into_inner().map_err(io::IntoInnerError::into_error)?;
            let file = Arc::new(FileReader::from(file));
            for run in self.runs {
                let range = RangeReader::new(Arc::clone(&file), run);
                runs.push(Run::Disk(BufReader::with_capacity(RUN_BUFFER_BYTES, range)));
            }
        }
        self.block.sort();
        runs.push(Run::Memory { block: self.block, next: 0 });
        let mut rows = SortedRows { first: BinaryHeap::with_capacity(runs.len()), runs };
        for run in 0..rows.runs.len() {
            rows.advance(run)?;
        }
        Ok(rows)
    }

    /// Sorts the block and writes it to the end of the file. If the last run (sorted sequence of
    /// rows) can be continued with the block, makes the block a part of this run. Otherwise begins
    /// a new run.
    fn write_block(&mut self) -> io::Result<()> {
        self.block.sort();
        let mut file = match self.file.take() {
            Some(file) => file,
            None => BufWriter::new(tempfile::tempfile()?),
        };
        let start = file.seek(SeekFrom::End(0))?;
        let mut written = 0;
        for (key, content) in self.block.rows() {
            let length = |part: &[u8]| u32::try_from(part.len()).map_err(io::Error::other);
            file.write_all(&length(key)?.to_le_bytes())?;
            file.write_all(&length(content)?.to_le_bytes())?;
            file.write_all(key)?;
            file.write_all(content)?;
            written += (2 * size_of::<u32>() + key.len() + content.len()) as u64;
        }
        self.file = Some(file);
        let continues = self.block.row(0).is_some_and(|(key, _)| key >= self.last_key.as_slice());
        match self.runs.last_mut().filter(|_| continues) {
            Some(run) => run.end = start + written,
            None => self.runs.push(start..start + written),
        }
        if let Some((key, _)) = self.block.rows().last() {
            self.last_key = key.to_vec();
        }
        self.block.clear();
        Ok(())
    }
}

/// The next row of a run, which is a sorted sequence of rows: the row's key, the number of its run,
/// and the row's content. A heap contains the next row of every run. `Reverse` makes the heap
/// return the row with the smallest key first.
type FirstRow = Reverse<(Vec<u8>, usize, Vec<u8>)>;

/// Rows in the order of their keys.
pub(crate) struct SortedRows {
    runs: Vec<Run>,
    /// The next row of each run (sorted sequence of rows) that still has rows.
    first: BinaryHeap<FirstRow>,
}

impl SortedRows {
    pub(crate) fn next_key(&self) -> Option<&[u8]> {
        self.first.peek().map(|Reverse((key, ..))| key.as_slice())
    }

    pub(crate) fn next_row(&mut self) -> io::Result<Option<KeyedRow>> {
        let Some(Reverse((key, run, content))) = self.first.pop() else { return Ok(None) };
        self.advance(run)?;
        Ok(Some((key, content)))
    }

    fn advance(&mut self, run: usize) -> io::Result<()> {
        let Some(reader) = self.runs.get_mut(run) else { return Ok(()) };
        if let Some((key, content)) = reader.next_row()? {
            self.first.push(Reverse((key, run, content)));
        }
        Ok(())
    }
}

/// A sorted sequence of rows: in memory, or in the temporary file.
enum Run {
    Memory { block: Block, next: usize },
    Disk(BufReader<RangeReader<Arc<FileReader>>>),
}

impl Run {
    fn next_row(&mut self) -> io::Result<Option<KeyedRow>> {
        let reader = match self {
            Self::Memory { block, next } => {
                let row = block.row(*next).map(|(key, content)| (key.to_vec(), content.to_vec()));
                *next += 1;
                return Ok(row);
            }
            Self::Disk(reader) => reader,
        };
        let mut length = [0; size_of::<u32>()];
        if (&mut *reader).take(1).read(&mut length)? == 0 {
            return Ok(None);
        }
        reader.read_exact(&mut length[1..])?;
        let key_bytes = u32::from_le_bytes(length) as usize;
        reader.read_exact(&mut length)?;
        let (mut key, mut content) =
            (vec![0; key_bytes], vec![0; u32::from_le_bytes(length) as usize]);
        reader.read_exact(&mut key)?;
        reader.read_exact(&mut content)?;
        Ok(Some((key, content)))
    }
}

/// Rows in memory.
#[derive(Default)]
struct Block {
    /// The rows, one after the other: the key of each row, and then its content.
    text: Vec<u8>,
    entries: Vec<Entry>,
}

/// The position of a row in the text of its block.
struct Entry {
    start: u32,
    key_bytes: u32,
    content_bytes: u32,
}

impl Block {
    fn add(&mut self, key: &[u8], content: &[u8]) -> io::Result<()> {
        let number = |count: usize| u32::try_from(count).map_err(io::Error::other);
        self.entries.push(Entry {
            start: number(self.text.len())?,
            key_bytes: number(key.len())?,
            content_bytes: number(content.len())?,
        });
        self.text.extend_from_slice(key);
        self.text.extend_from_slice(content);
        Ok(())
    }

    fn bytes(&self) -> usize {
        self.text.len() + self.entries.len() * size_of::<Entry>()
    }

    fn sort(&mut self) {
        let Self { text, entries } = self;
        entries.sort_by(|one, other| key_of(text, one).cmp(key_of(text, other)));
    }

    fn row(&self, number: usize) -> Option<(&[u8], &[u8])> {
        self.entries.get(number).map(|entry| self.parts(entry))
    }

    fn rows(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.entries.iter().map(|entry| self.parts(entry))
    }

    fn parts(&self, entry: &Entry) -> (&[u8], &[u8]) {
        let start = (entry.start + entry.key_bytes) as usize;
        let content = self.text.get(start..start + entry.content_bytes as usize);
        (key_of(&self.text, entry), content.unwrap_or_default())
    }

    fn clear(&mut self) {
        self.text.clear();
        self.entries.clear();
    }
}

fn key_of<'a>(text: &'a [u8], entry: &Entry) -> &'a [u8] {
    let start = entry.start as usize;
    text.get(start..start + entry.key_bytes as usize).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sorts rows in blocks of 1,000 bytes. Returns the number of runs (sorted sequences of rows)
    /// from which the rows were merged, and the sorted rows.
    fn sorted(rows: &[(String, String)]) -> (usize, Vec<(String, String)>) {
        let mut sorter = Sorter::with_block_bytes(1_000);
        for (key, content) in rows {
            sorter.add(key.as_bytes(), content.as_bytes()).unwrap();
        }
        let mut sorted = sorter.sorted().unwrap();
        let (runs, mut all) = (sorted.runs.len(), Vec::new());
        while let Some(key) = sorted.next_key().map(<[u8]>::to_vec) {
            let row = sorted.next_row().unwrap().unwrap();
            assert_eq!(row.0, key);
            all.push((String::from_utf8(row.0).unwrap(), String::from_utf8(row.1).unwrap()));
        }
        (runs, all)
    }

    #[test]
    fn rows_in_any_order_are_sorted_and_those_of_a_key_keep_their_order() {
        let row = |number: u32| {
            let key = number.wrapping_mul(2_654_435_761) % 500;
            (format!("{key:03}"), format!("row {number}"))
        };
        let rows: Vec<_> = (0..5_000).map(row).collect();
        let mut expected = rows.clone();
        expected.sort_by(|one, other| one.0.cmp(&other.0));
        let (runs, found) = sorted(&rows);
        assert!(runs > 10, "{runs}");
        assert_eq!(found, expected);
    }

    #[test]
    fn sorted_rows_make_one_run_on_the_disk() {
        let rows: Vec<_> = (0..5_000).map(|n| (format!("{n:05}"), String::new())).collect();
        let (runs, found) = sorted(&rows);
        // One run (sorted sequence of rows) is in the file. The other is the last block, which
        // stays in memory.
        assert_eq!(runs, 2);
        assert_eq!(found, rows);
        assert_eq!(sorted(&[]), (1, Vec::new()));
    }
}
