//! Measures how usual the sequence of letters in a word is. A typing error makes a word less usual.

use std::sync::LazyLock;

use crate::name_words::listed_words;

/// The number of different symbols that are counted: 26 letters, and one symbol for the beginning
/// and the end of a word.
const SIGNS: usize = 27;
/// A number that is added to every count, so that no probability is zero.
const UNSEEN: f64 = 0.2;

/// For each pair of letters and each letter after this pair, the logarithm of the letter's
/// probability. The letters are counted in the words of the data files, which are from about forty
/// languages.
static USUAL: LazyLock<Vec<f64>> = LazyLock::new(|| {
    let mut counts = vec![0.0; SIGNS * SIGNS * SIGNS];
    for word in listed_words().filter(|word| word.bytes().all(|byte| byte.is_ascii_lowercase())) {
        for at in usual_indexes(word) {
            counts[at] += 1.0;
        }
    }
    for of_two in counts.chunks_mut(SIGNS) {
        let all = of_two.iter().sum::<f64>() + UNSEEN * SIGNS as f64;
        for count in of_two {
            *count = ((*count + UNSEEN) / all).ln();
        }
    }
    counts
});

/// Returns how unusual the sequence of letters in a word is, in nats: the negative logarithm of its
/// probability among words of the same length. A character other than `a` to `z` counts like the
/// end of a word.
pub fn oddity(word: &str) -> f64 {
    usual_indexes(word).map(|at| -USUAL[at]).sum()
}

/// Returns the index in [`USUAL`] of each sequence of three letters in a word.
fn usual_indexes(word: &str) -> impl Iterator<Item = usize> + '_ {
    let signs = word.bytes().map(|byte| match byte {
        b'a'..=b'z' => usize::from(byte - b'a') + 1,
        _ => 0,
    });
    signs.chain(std::iter::once(0)).scan((0, 0), |(first, second), third| {
        let place = (*first * SIGNS + *second) * SIGNS + third;
        (*first, *second) = (*second, third);
        Some(place)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_makes_a_word_odd() {
        for (word, slip) in [("quill", "quikl"), ("feather", "featehr"), ("inkwell", "inkwlel")] {
            assert!(oddity(slip) > oddity(word) + 2.0, "{slip}: {}", oddity(slip) - oddity(word));
        }
    }
}
