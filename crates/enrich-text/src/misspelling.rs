//! Compares the letters of two words, to recognise misspellings.

/// Whether two words are equal, or one is a misspelling of the other. In a misspelling, one letter
/// is missing, added, replaced or swapped with its neighbour. If both words have at least eight
/// letters (more precisely, bytes), there may be two such errors. Returns `false` if a word has a
/// digit, or fewer than four letters.
pub fn is_misspelt(a: &str, b: &str) -> bool {
    let shorter = a.len().min(b.len());
    let most = if shorter >= 8 { 2 } else { 1 };
    shorter >= 4 && !has_digit(a) && !has_digit(b) && is_within(most, a, b)
}

/// Whether two words differ by at most `most` errors: letters that are missing, added, replaced,
/// or swapped with the next letter. First compares the sets of their letters. This is faster than
/// the edit distance, and excludes nearly all words.
pub(crate) fn is_within(most: usize, a: &str, b: &str) -> bool {
    if a.len().abs_diff(b.len()) > most {
        return false;
    }
    // Each error changes at most two letters in the set of letters of a word: a replaced letter
    // removes one letter from the set and adds another.
    let differing = (letters(a) ^ letters(b)).count_ones() as usize;
    differing <= 2 * most && strsim::osa_distance(a, b) <= most
}

/// Returns the letters that a word has, as one bit for each letter of the alphabet. All other
/// characters share one bit.
fn letters(word: &str) -> u32 {
    word.bytes().fold(0, |seen, byte| {
        let at = if byte.is_ascii_lowercase() { byte - b'a' } else { 31 };
        seen | 1 << at
    })
}

/// Returns the Sørensen-Dice coefficient of two words: the share of letter pairs that they have in
/// common, from 0 to 1. A pair that a word has twice counts twice.
pub fn dice(a: &str, b: &str) -> f64 {
    let (a, b) = (bigrams(a), bigrams(b));
    if a.is_empty() || b.is_empty() {
        return 0.0;
    }
    let (mut common, mut left, mut right) = (0, 0, 0);
    while let (Some(one), Some(other)) = (a.get(left), b.get(right)) {
        left += usize::from(one <= other);
        right += usize::from(other <= one);
        common += usize::from(one == other);
    }
    (2 * common) as f64 / (a.len() + b.len()) as f64
}

/// Returns all pairs of neighbouring letters in a word, in alphabetical order.
fn bigrams(word: &str) -> Vec<(char, char)> {
    let mut bigrams: Vec<_> = word.chars().zip(word.chars().skip(1)).collect();
    bigrams.sort_unstable();
    bigrams
}

pub(crate) fn has_digit(word: &str) -> bool {
    word.bytes().any(|byte| byte.is_ascii_digit())
}
