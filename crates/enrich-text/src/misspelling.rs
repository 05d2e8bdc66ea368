//! Compares the letters of two words.

/// Whether one word is a misspelling of the other: one letter missing, added, replaced or swapped
/// with its neighbour, or two such errors in words of at least eight letters. Numbers are never
/// misspellings.
pub fn is_misspelt(a: &str, b: &str) -> bool {
    let shorter = a.len().min(b.len());
    let most = if shorter >= 8 { 2 } else { 1 };
    shorter >= 4 && !has_digit(a) && !has_digit(b) && is_within(most, a, b)
}

/// Whether two words differ by at most `most` errors. Compares the sets of letters first: this is
/// faster than the edit distance and excludes nearly all words.
pub(crate) fn is_within(most: usize, a: &str, b: &str) -> bool {
    if a.len().abs_diff(b.len()) > most {
        return false;
    }
    // One error adds at most one letter to the set and removes at most one.
    let differing = (letters(a) ^ letters(b)).count_ones() as usize;
    differing <= 2 * most && strsim::osa_distance(a, b) <= most
}

/// Returns the set of letters in a word, one bit for each letter; all other signs share one bit.
fn letters(word: &str) -> u32 {
    word.bytes().fold(0, |seen, byte| {
        let at = if byte.is_ascii_lowercase() { byte - b'a' } else { 31 };
        seen | 1 << at
    })
}

/// Returns the share of letter pairs that two words have in common, counting repeats, 0 to 1 (the
/// Sørensen-Dice coefficient of the words' bigrams).
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

/// Returns the letter pairs of a word, in alphabetical order.
fn bigrams(word: &str) -> Vec<(char, char)> {
    let mut bigrams: Vec<_> = word.chars().zip(word.chars().skip(1)).collect();
    bigrams.sort_unstable();
    bigrams
}

pub(crate) fn has_digit(word: &str) -> bool {
    word.bytes().any(|byte| byte.is_ascii_digit())
}
