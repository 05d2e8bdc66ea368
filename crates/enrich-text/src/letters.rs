//! Measures how usual the order of the letters in a word is. Typing errors make the order less
//! usual.

use std::sync::LazyLock;

use crate::name_words::listed_words;

/// The number of signs: 26 letters, and one sign for both ends of a word.
const SIGNS: usize = 27;
/// Added to every count, so that no probability is zero.
const UNSEEN: f64 = 0.2;

/// For each pair of letters, the log probability of each third letter. They are counted over the
/// words in the data files, which come from about forty languages.
static USUAL: LazyLock<Vec<f64>> = LazyLock::new(|| {
    let mut counts = vec![0.0; SIGNS * SIGNS * SIGNS];
    for word in listed_words().filter(|word| word.bytes().all(|byte| byte.is_ascii_lowercase())) {
        for at in places(word) {
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

/// Returns how unusual the letter sequence of a word is: the negative logarithm of its probability
/// among words of the same length, in nats. Signs other than `a` to `z` count as word ends.
pub fn oddity(word: &str) -> f64 {
    places(word).map(|at| -USUAL[at]).sum()
}

/// Returns the positions in [`USUAL`] of all letter triples of a word.
fn places(word: &str) -> impl Iterator<Item = usize> + '_ {
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
