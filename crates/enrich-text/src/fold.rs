//! Folding: brings a text into the form in which words are compared, without case, accents and
//! punctuation.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Folds a text to the form for comparison: words in lower case, separated by one space.
///
/// - Compatibility forms, such as full-width letters, ligatures and `㈱`, become plain letters
///   (NFKC).
/// - Latin, Greek and Cyrillic letters become plain Latin ones, without accents. Letters of other
///   scripts are kept, because their transliteration would make different words equal.
/// - `&` becomes `and`; `+` becomes `plus` at the end of a word (`Canal+`), otherwise `and`.
/// - Apostrophes, trademark symbols and zero-width characters are removed. Any other punctuation
///   separates words.
/// - Neighbouring single letters become one word: `S.A.` and `S A` become `sa`.
/// - The Cyrillic abbreviations of some legal forms stay Cyrillic. In Latin letters they would
///   become other words: `ТОО` would become `too`.
///
/// If a text has only punctuation (`!!!`), it is kept, so that the result is not empty. Folding a
/// text that is already folded does not change it.
pub fn fold(text: &str) -> String {
    let words = fold_words(text);
    if words.is_empty() {
        return signs(text);
    }
    join_single_letters(&words)
}

/// Folds a text like [`fold`], but does not join neighbouring single letters.
pub(crate) fn fold_words(text: &str) -> String {
    let mut folded = fold_once(text);
    // When a character is removed, the letters before and after it may compose a new letter. So
    // folding is repeated until nothing changes.
    while !folded.is_ascii() {
        let again = fold_once(&folded);
        if again == folded {
            break;
        }
        folded = again;
    }
    folded
}

fn fold_once(text: &str) -> String {
    let signs = text.chars().filter(|&sign| !vanishes(sign));
    // The conversion to NFKC does not change ASCII text, so it is left out. Most names are ASCII.
    if text.is_ascii() { fold_signs(signs) } else { fold_signs(signs.nfkc()) }
}

fn fold_signs(signs: impl Iterator<Item = char>) -> String {
    let mut folded = Folded::default();
    let mut signs = signs.peekable();
    while let Some(sign) = signs.next() {
        match sign {
            'a'..='z' | '0'..='9' => folded.letter(sign),
            'A'..='Z' => folded.letter(sign.to_ascii_lowercase()),
            '&' => folded.word("and"),
            '+' => {
                let ends_a_word = folded.is_inside_a_word()
                    && signs.peek().is_none_or(|next| !next.is_alphanumeric());
                folded.word(if ends_a_word { "plus" } else { "and" });
            }
            _ if sign.is_ascii() => folded.gap(),
            _ if vanishes(sign) => {}
            _ if is_cyrillic(sign) && !folded.is_inside_a_word() => {
                let mut word: String = sign.to_lowercase().collect();
                while let Some(letter) = signs.next_if(|&next| is_cyrillic(next)) {
                    word.extend(letter.to_lowercase());
                }
                let ends_here = signs.peek().is_none_or(|next| !next.is_alphanumeric());
                if ends_here && STAY_CYRILLIC.contains(&word.as_str()) {
                    word.chars().for_each(|letter| folded.letter(letter));
                } else {
                    word.chars().for_each(|letter| folded.transliterated(letter));
                }
            }
            _ if is_transliterated(sign) => folded.transliterated(sign),
            _ if sign.is_alphanumeric() || is_combining_mark(sign) => {
                for letter in sign.to_lowercase() {
                    folded.letter(letter);
                }
            }
            _ => folded.gap(),
        }
    }
    folded.text
}

/// Words that folding leaves in Cyrillic letters: abbreviations of legal forms, which stand before
/// the name in Russian and similar languages. In Latin letters, they would look like the first word
/// of other names: `Too Good To Go`, `Pão de Açúcar`, `AO Smith`.
const STAY_CYRILLIC: [&str; 7] = ["ао", "ат", "ип", "нао", "пао", "тоо", "чао"];

/// A text while it is being folded: words with one space between them.
#[derive(Default)]
struct Folded {
    text: String,
    gap: bool,
}

impl Folded {
    fn letter(&mut self, letter: char) {
        if self.gap && !self.text.is_empty() {
            self.text.push(' ');
        }
        self.gap = false;
        self.text.push(letter);
    }

    fn transliterated(&mut self, sign: char) {
        for letter in any_ascii::any_ascii_char(sign).chars() {
            if letter.is_ascii_alphanumeric() {
                self.letter(letter.to_ascii_lowercase());
            }
        }
    }

    fn word(&mut self, word: &str) {
        self.gap();
        word.chars().for_each(|letter| self.letter(letter));
        self.gap();
    }

    fn gap(&mut self) {
        self.gap = true;
    }

    fn is_inside_a_word(&self) -> bool {
        !self.gap && !self.text.is_empty()
    }
}

/// Whether folding removes a character and joins the letters around it: `l'oréal` becomes `loreal`.
/// These characters are:
///
/// - apostrophes, and accents that stand alone;
/// - the middle dots of Catalan and Japanese words;
/// - trademark symbols;
/// - vowel points;
/// - zero-width characters.
fn vanishes(sign: char) -> bool {
    matches!(
        sign,
        '\'' | '`'
            | '\u{a9}'
            | '\u{ad}'
            | '\u{ae}'
            | '\u{b4}'
            | '\u{b7}'
            | '\u{2b0}'..='\u{2ff}'
            | '\u{300}'..='\u{36f}'
            | '\u{591}'..='\u{5c7}'
            | '\u{5f3}'
            | '\u{5f4}'
            | '\u{640}'
            | '\u{64b}'..='\u{652}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2018}'..='\u{201b}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2032}'
            | '\u{2060}'..='\u{206f}'
            | '\u{2117}'
            | '\u{2120}'
            | '\u{2122}'
            | '\u{30fb}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{ff65}'
    )
}

/// Whether a character is a letter of a Cyrillic alphabet in current use.
fn is_cyrillic(sign: char) -> bool {
    matches!(sign, '\u{400}'..='\u{481}' | '\u{48a}'..='\u{52f}')
}

/// Whether a character becomes ASCII: it is a Latin, Greek or Cyrillic letter, or a digit of any
/// script.
fn is_transliterated(sign: char) -> bool {
    matches!(
        sign,
        '\u{aa}'
            | '\u{ba}'
            | '\u{c0}'..='\u{d6}'
            | '\u{d8}'..='\u{f6}'
            | '\u{f8}'..='\u{2af}'
            | '\u{370}'..='\u{52f}'
            | '\u{1c80}'..='\u{1c8f}'
            | '\u{1d00}'..='\u{1dbf}'
            | '\u{1e00}'..='\u{1fff}'
            | '\u{2c60}'..='\u{2c7f}'
            | '\u{2de0}'..='\u{2dff}'
            | '\u{a640}'..='\u{a69f}'
            | '\u{a720}'..='\u{a7ff}'
            | '\u{ab30}'..='\u{ab6f}'
    ) || (sign.is_numeric() && is_digit(sign))
}

fn is_digit(sign: char) -> bool {
    matches!(any_ascii::any_ascii_char(sign).as_bytes(), [b'0'..=b'9'])
}

pub(crate) fn join_single_letters(words: &str) -> String {
    let mut joined = String::with_capacity(words.len());
    let mut after_letter = false;
    for word in words.split(' ') {
        let letter = matches!(word.as_bytes(), [b'a'..=b'z']);
        let continues = letter && after_letter;
        if !joined.is_empty() && !continues {
            joined.push(' ');
        }
        joined.push_str(word);
        after_letter = letter;
    }
    joined
}

/// Returns the visible characters of a text that contains no word, in lower case.
fn signs(text: &str) -> String {
    text.chars()
        .filter(|&sign| !sign.is_whitespace() && !sign.is_control() && !has_no_width(sign))
        .flat_map(char::to_lowercase)
        .collect()
}

fn has_no_width(sign: char) -> bool {
    is_combining_mark(sign)
        || matches!(
            sign,
            '\u{ad}'
                | '\u{34f}'
                | '\u{61c}'
                | '\u{180e}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{fe00}'..='\u{fe0f}'
                | '\u{feff}'
                | '\u{e0000}'..='\u{e01ef}'
        )
}
