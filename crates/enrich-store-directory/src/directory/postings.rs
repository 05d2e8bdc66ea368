//! The packed format of the list of a word. The list contains the companies that have the word in
//! one of their names.
//!
//! A list is a sequence of entries, ordered by the id of the company. An entry begins with the
//! difference between this id and the id in the previous entry, as a variable-length integer
//! ([`varint`]). One more byte follows: the number of words of the company's shortest name that
//! contains the word.

use crate::varint;

/// One company in a word's list of companies. The company has the word in one of its names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Posting {
    pub(crate) company: u64,
    /// The number of words in the shortest of the company's names that contain the list's word.
    pub(crate) words: u8,
}

/// The error for bytes that are not a list. [`pack`] never writes such bytes.
#[derive(Debug, thiserror::Error)]
#[error("a list of companies in the index of words is damaged; stop the server, `enrich reindex`")]
pub(crate) struct Damaged;

/// Packs a list of companies that is ordered by their ids.
pub(crate) fn pack(postings: &[Posting]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(postings.len() * 3);
    let mut before = 0;
    for posting in postings {
        varint::push(&mut bytes, posting.company.wrapping_sub(before));
        before = posting.company;
        bytes.push(posting.words);
    }
    bytes
}

/// Returns an iterator over the numbers in a packed list.
pub(crate) fn unpack(bytes: &[u8]) -> Unpack<'_> {
    Unpack { bytes, before: 0 }
}

pub(crate) struct Unpack<'a> {
    bytes: &'a [u8],
    before: u64,
}

impl Unpack<'_> {
    fn read(&mut self) -> Option<Posting> {
        let difference = varint::take(&mut self.bytes)?;
        let (&words, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        self.before = self.before.checked_add(difference)?;
        Some(Posting { company: self.before, words })
    }
}

impl Iterator for Unpack<'_> {
    type Item = Result<Posting, Damaged>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.bytes.is_empty() {
            return None;
        }
        let read = self.read().ok_or(Damaged);
        if read.is_err() {
            self.bytes = &[];
        }
        Some(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packed_list_reads_back() {
        let lists = [
            vec![],
            vec![Posting { company: 0, words: 0 }],
            vec![
                Posting { company: 1, words: 3 },
                Posting { company: 2, words: 255 },
                Posting { company: 300, words: 1 },
                Posting { company: u64::MAX, words: 2 },
            ],
        ];
        for list in lists {
            let read: Result<Vec<Posting>, Damaged> = unpack(&pack(&list)).collect();
            assert_eq!(read.unwrap(), list);
        }
    }

    #[test]
    fn a_list_that_breaks_off_is_damaged() {
        for bytes in [&[0x80][..], &[0x05], &[0xff; 20]] {
            assert!(unpack(bytes).any(|entry| entry.is_err()), "{bytes:?}");
        }
    }
}
