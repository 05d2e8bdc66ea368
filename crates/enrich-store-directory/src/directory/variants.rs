//! The variants of a word. A misspelt word and the correct word usually have a common variant.
//!
//! The variants of a word are the word itself, and each form of the word without one of its
//! letters, such as `uill` and `qill` for `quill`. Two words are one edit apart if one of them has
//! one more letter, if one letter differs, or if two neighbouring letters are swapped. Words that
//! are one edit apart have a common variant. This is the method of SymSpell (W. Garbe, 2012).
//! Variants are made only from the beginning of a word, so that a long word does not have too many
//! variants.

/// The number of letters at the beginning of a word from which the word's variants are made.
const LETTERS: usize = 8;
/// Minimum number of letters of a word that has variants. A shorter word has none, because it is
/// one edit away from too many other words.
const FEWEST_LETTERS: usize = 4;

/// Returns the hashes of a word's variants, each hash once. Only words of Latin letters have
/// variants; short words and numbers have none.
pub(crate) fn variants(word: &str) -> Vec<i64> {
    let is_latin = word.bytes().all(|byte| byte.is_ascii_lowercase());
    if !is_latin || word.len() < FEWEST_LETTERS {
        return Vec::new();
    }
    let beginning = &word.as_bytes()[..word.len().min(LETTERS)];
    let mut variants = Vec::with_capacity(beginning.len() + 1);
    variants.push(hash(beginning));
    // Example: `quillfeather` is misspelt as `qillfeather`. Because the `u` is missing, the first
    // eight letters are `qillfeat` instead of `quillfea`. The two words still have a common
    // variant: `quillfea` without `u` and `qillfeat` without `t` are both `qillfea`.
    for missing in 0..beginning.len() {
        let left: Vec<u8> = [&beginning[..missing], &beginning[missing + 1..]].concat();
        variants.push(hash(&left));
    }
    variants.sort_unstable();
    variants.dedup();
    variants
}

/// Returns the 64-bit FNV-1a hash of some bytes. The hashes are stored, so this function must never
/// change.
fn hash(bytes: &[u8]) -> i64 {
    let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    hash.cast_signed()
}

#[cfg(test)]
mod tests {
    use enrich_text::is_misspelt;

    use super::*;

    #[test]
    fn words_one_slip_apart_share_a_variant() {
        for (word, slip) in [
            ("quill", "qiull"),
            ("quill", "quil"),
            ("quill", "quilll"),
            ("quill", "quikl"),
            ("quillfeather", "quillfeahter"),
            ("quillfeather", "qillfeather"),
            ("quillfeather", "quilllfeather"),
            ("feathers", "feather"),
        ] {
            assert!(is_misspelt(word, slip), "{word} {slip}");
            let shared = variants(slip);
            assert!(variants(word).iter().any(|one| shared.contains(one)), "{word} {slip}");
        }
    }

    #[test]
    fn short_words_and_numbers_have_none() {
        for word in ["ink", "", "2024", "日本"] {
            assert!(variants(word).is_empty(), "{word}");
        }
    }
}
