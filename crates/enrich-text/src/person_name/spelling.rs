//! Brings the different spellings and transliterations of a name into one common form.

use std::borrow::Cow;

/// Minimum number of letters of a word in which all [`SOUNDS`] are replaced. In a shorter word, a
/// single letter can distinguish two people (Terry and Terri, Wang and Vang), so only umlauts and
/// Russian endings are replaced.
const LONG: usize = 6;

/// Two names in different scripts are compared by their consonants only if each name has at least
/// this many consonants.
const FEWEST_CONSONANTS: usize = 3;

/// Pairs of spellings of the same sound. The first spelling is replaced by the second. The
/// replacements are made one after the other, in this order.
const SOUNDS: [(&str, &str); 10] = [
    ("schtsch", "shch"),
    ("tsch", "ch"),
    ("sch", "sh"),
    ("kh", "h"),
    ("ph", "f"),
    ("x", "ks"),
    ("w", "v"),
    ("y", "i"),
    ("poilos", "pulos"),
    ("poulos", "pulos"),
];

/// Returns the common form of all spellings of a folded word. An umlaut that is written with two
/// letters becomes one letter: `mueller` becomes `muller`. Different transliterations of a name
/// become equal: `sergej` and `sergey` become `sergei`.
pub(super) fn spelling(word: &str) -> String {
    if !word.is_ascii() {
        return word.to_owned();
    }
    let plain = without_umlauts(word);
    let mut sound = russian_end(&plain).into_owned();
    if word.len() < LONG {
        return sound;
    }
    if let Some(rest) = sound.strip_prefix("tch") {
        sound = format!("ch{rest}");
    }
    for (written, kept) in SOUNDS {
        if sound.contains(written) {
            sound = sound.replace(written, kept);
        }
    }
    let sound = without_glides(&sound);
    for (written, kept) in [("iev", "ev"), ("ieva", "eva")] {
        if let Some(stem) = sound.strip_suffix(written) {
            return format!("{stem}{kept}");
        }
    }
    sound
}

/// Returns the consonants of a word. They serve to compare a word in Latin letters with a word in
/// Arabic or Hebrew script, which writes few vowels. If the word has too few consonants, returns it
/// unchanged.
pub(super) fn consonants(word: &str) -> Cow<'_, str> {
    if is_east_asian(word) {
        return Cow::Borrowed(word);
    }
    let mut latin = any_ascii::any_ascii(word).to_ascii_lowercase();
    for (written, kept) in [("kh", "h"), ("sh", "s"), ("ch", "k"), ("ph", "f"), ("th", "t")] {
        latin = latin.replace(written, kept);
    }
    let mut kept = String::new();
    for letter in latin.trim_end_matches('h').chars() {
        let letter = match letter {
            'a' | 'e' | 'i' | 'o' | 'u' | 'w' | 'y' => continue,
            'c' | 'q' => 'k',
            letter if !letter.is_ascii_alphanumeric() => continue,
            letter => letter,
        };
        if !kept.ends_with(letter) {
            kept.push(letter);
        }
    }
    if kept.len() < FEWEST_CONSONANTS { Cow::Borrowed(word) } else { Cow::Owned(kept) }
}

/// Returns the first letter of a given name, as the look-up keys of people contain it: the key
/// `a.|grk` contains `a`. A Latin or East Asian letter stays unchanged. In any other script, a
/// consonant becomes a Latin letter, and each vowel becomes [`ANY_VOWEL`], because Arabic and
/// Hebrew script do not distinguish the vowels.
pub(super) fn first_letter(given: &str) -> Cow<'_, str> {
    let end = given.char_indices().nth(1).map_or(given.len(), |(at, _)| at);
    let first = &given[..end];
    if first.is_ascii() || is_east_asian(first) {
        return Cow::Borrowed(first);
    }
    let latin = any_ascii::any_ascii(first).to_ascii_lowercase();
    match latin.chars().next() {
        Some(letter) if letter.is_ascii_alphanumeric() && !is_vowel(letter) => {
            Cow::Owned(letter.to_string())
        }
        _ => Cow::Borrowed(ANY_VOWEL),
    }
}

/// The character that [`first_letter`] returns for any vowel in a script other than Latin.
const ANY_VOWEL: &str = "'";

/// Returns the first letters by which a given name is looked up: its own first letter, then the
/// first letters that the same name may have in another script.
pub(super) fn first_letters(given: &str) -> Vec<Cow<'_, str>> {
    let own = first_letter(given);
    let others: &[&str] = match own.as_ref() {
        ANY_VOWEL => &["a", "e", "i", "o", "u"],
        "a" | "e" | "i" | "o" | "u" => &[ANY_VOWEL],
        _ => &[],
    };
    std::iter::once(own).chain(others.iter().map(|&other| Cow::Borrowed(other))).collect()
}

/// Whether a text consists only of Chinese, Japanese or Korean characters.
pub(super) fn is_east_asian(text: &str) -> bool {
    text.chars().all(|sign| {
        matches!(
            sign,
            '\u{3005}'
                | '\u{3040}'..='\u{30ff}'
                | '\u{3400}'..='\u{4dbf}'
                | '\u{4e00}'..='\u{9fff}'
                | '\u{ac00}'..='\u{d7a3}'
                | '\u{f900}'..='\u{faff}'
                | '\u{20000}'..='\u{323af}'
        )
    })
}

/// Replaces umlauts that are written with two letters: `ae`, `oe` and `ue` before a consonant
/// become `a`, `o` and `u`, and `aa` becomes `a`. These letters stay unchanged after a vowel or
/// `q` (`Bauer`, `Jacques`). An `e` at the end of a word also stays unchanged (`Joe`, `Sue`).
fn without_umlauts(word: &str) -> String {
    let mut kept = String::with_capacity(word.len());
    let mut letters = word.chars().peekable();
    let mut before = ' ';
    while let Some(letter) = letters.next() {
        kept.push(letter);
        if matches!(letter, 'a' | 'o' | 'u') && !is_vowel(before) && before != 'q' {
            let mut ahead = letters.clone();
            let is_umlaut =
                ahead.next() == Some('e') && ahead.next().is_some_and(|next| !is_vowel(next));
            if is_umlaut || (letter == 'a' && letters.peek() == Some(&'a')) {
                letters.next();
            }
        }
        before = letter;
    }
    kept
}

/// Replaces Russian endings: `Popow` and `Popoff` become `Popov`.
fn russian_end(word: &str) -> Cow<'_, str> {
    for (end, kept) in [("ow", "ov"), ("ew", "ev"), ("off", "ov"), ("eff", "ev")] {
        if let Some(stem) = word.strip_suffix(end).filter(|stem| stem.len() >= 3) {
            return Cow::Owned(format!("{stem}{kept}"));
        }
    }
    Cow::Borrowed(word)
}

/// Removes or replaces letters that only some transliterations contain. Before this function is
/// called, every `y` was replaced by `i`.
///
/// - An `i` before `e` is removed at the beginning of a word and after a vowel (`Yelena`,
///   `Andreyevich`).
/// - An `i` after another `i` is removed (`Dmitrii`).
/// - A `j` after the first letter becomes `i` if exactly one of its neighbours is a vowel
///   (`Sergej`).
fn without_glides(word: &str) -> String {
    let mut kept = String::with_capacity(word.len());
    let mut letters = word.chars().peekable();
    while let Some(letter) = letters.next() {
        let before = kept.chars().next_back();
        let next = letters.peek().copied();
        let letter = match letter {
            'j' if before.is_some_and(|before| is_vowel(before) != next.is_some_and(is_vowel)) => {
                'i'
            }
            letter => letter,
        };
        let is_glide = letter == 'i' && next == Some('e') && before.is_none_or(is_vowel);
        if !(is_glide || letter == 'i' && before == Some('i')) {
            kept.push(letter);
        }
    }
    kept
}

fn is_vowel(letter: char) -> bool {
    matches!(letter, 'a' | 'e' | 'i' | 'o' | 'u' | 'y')
}
