//! Guesses the encoding of a text.

use std::collections::HashMap;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::MACINTOSH;
use enrich_mapping::CodePage;

use crate::text_encoding::TextEncoding;

/// Encodings that programs on DOS and on older Macintoshes write. The library `chardetng`, which
/// guesses encodings, never returns these.
const OLD: [TextEncoding; 2] =
    [TextEncoding::Page(CodePage::Cp850), TextEncoding::Standard(MACINTOSH)];

/// The last character of the Unicode block Latin Extended-B. Letters with higher codes are mostly
/// of other scripts, such as Greek.
const LAST_LATIN: char = '\u{24f}';

/// Guesses the encoding of a text from `window`, a part of the text that begins with a byte that is
/// not ASCII. `is_cut` is `true` if the text may continue after `window`.
pub(crate) fn guess(window: &[u8], is_cut: bool) -> TextEncoding {
    let (mut letters, mut faults) = (0, 0);
    let mut chunks = window.utf8_chunks().peekable();
    while let Some(chunk) = chunks.next() {
        letters += chunk.valid().chars().filter(|letter| !letter.is_ascii()).count();
        // The window may end in the middle of a character. This is not an error in the text.
        let is_cut = chunks.peek().is_none() && is_cut;
        faults += usize::from(!chunk.invalid().is_empty() && !is_cut);
    }
    // UTF-8 text may be damaged at a few places. So the text is taken for UTF-8 if it has at least
    // as many valid letters outside ASCII as damaged places.
    if letters >= faults {
        return TextEncoding::UTF_8;
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(window, !is_cut);
    let country = country_domain(window);
    let country = country.as_ref().map(<[u8; 2]>::as_slice);
    let likely = TextEncoding::Standard(detector.guess(country, Utf8Detection::Deny));
    let with_likely = misplaced(&likely.decode(window));
    let old = OLD.into_iter().map(|old| (misplaced(&old.decode(window)), old));
    match old.min_by_key(|(misplaced, _)| *misplaced) {
        Some((with_old, old)) if 10 * with_old < with_likely => old,
        _ => likely,
    }
}

/// Returns the most frequent top-level domain of a country in a text, such as `hu`; `None` if fewer
/// than three domains end with it. The detector uses it to tell apart languages with similar
/// letters.
fn country_domain(text: &[u8]) -> Option<[u8; 2]> {
    const LEAST: usize = 3;
    let mut counts: HashMap<[u8; 2], usize> = HashMap::new();
    for part in text.windows(5) {
        let &[before, dot, first, second, after] = part else { continue };
        let is_domain = before.is_ascii_alphanumeric() && dot == b'.';
        let is_whole = after.is_ascii() && !after.is_ascii_alphanumeric() && after != b'.';
        if is_domain && is_whole && first.is_ascii_lowercase() && second.is_ascii_lowercase() {
            *counts.entry([first, second]).or_default() += 1;
        }
    }
    let most = counts.into_iter().max_by_key(|(domain, count)| (*count, *domain))?;
    (most.1 >= LEAST).then_some(most.0)
}

/// Counts the characters that are probably decoded wrongly: `Ÿ` in `MŸller` (for `Müller`), or `”`
/// in `K”ln` (for `Köln`). Many such characters show that the encoding is wrong. Two kinds count:
///
/// - An accented capital letter inside a word, beside a small letter.
/// - A sign, or a letter of another script, between two ASCII letters.
fn misplaced(text: &str) -> usize {
    let letters: Vec<char> = text.chars().collect();
    let is_misplaced = |three: &[char]| {
        let &[before, letter, after] = three else { return false };
        if letter.is_ascii() || !before.is_ascii_alphabetic() {
            return false;
        }
        if letter.is_alphabetic() && letter <= LAST_LATIN {
            let is_in_small = before.is_ascii_lowercase() || after.is_ascii_lowercase();
            return letter.is_uppercase() && is_in_small;
        }
        after.is_ascii_alphabetic()
            && !matches!(letter, '\'' | '’' | '‘' | '…' | '•' | '·' | '–' | '—' | '\u{ad}')
    };
    letters.windows(3).filter(|three| is_misplaced(three)).count()
}

#[cfg(test)]
mod tests {
    use encoding_rs::{GBK, SHIFT_JIS, WINDOWS_1250, WINDOWS_1251, WINDOWS_1252};

    use super::*;

    const GERMAN: &str = "Firma;Ort\nMüller & Söhne;Zürich\nBäckerei Groß;Köln\nCafé;Genève\n";

    fn guessed(bytes: &[u8]) -> String {
        guess(bytes, false).name()
    }

    #[test]
    fn old_encodings_show_by_the_letters_inside_words() {
        let dos = b"Firma;Ort\nM\x81ller & S\x94hne;Z\x81rich\nB\x84ckerei Gro\xe1;K\x94ln\n";
        assert_eq!(guessed(dos), "CP850");
        assert_eq!(
            guessed(b"Nome;Cidade\nPadaria S\xc6o Jo\xc6o;S\xc6o Paulo\nA\x87a\xa1 Lda;Bel\x82m\n"),
            "CP850"
        );
        assert_eq!(guessed(&MACINTOSH_GERMAN), "macintosh");
    }

    const MACINTOSH_GERMAN: [u8; 51] =
        *b"Firma;Ort\rM\x9fller & S\x9ahne;Z\x9frich\rB\x8ackerei Gro\xa7;K\x9aln\r";

    #[test]
    fn texts_of_other_encodings_keep_the_usual_guess() {
        let (western, ..) = WINDOWS_1252.encode(GERMAN);
        assert_eq!(guessed(&western), "Windows-1252");
        let (quotes, ..) = WINDOWS_1252.encode("L’Oréal – d’Or;“Quill®s”\nCO™x;Société Générale\n");
        assert_eq!(guessed(&quotes), "Windows-1252");
        let (hungarian, ..) = WINDOWS_1250
            .encode("Név;Honlap\nKőhegyi Pincészet;kohegyi.hu\nŐsapák;osapak.hu\nDűlő;dulo.hu\n");
        // The text was written in Windows-1250. Its letters have the same bytes in ISO-8859-2, so
        // this guess is right too.
        assert_eq!(guessed(&hungarian), "ISO-8859-2");
        let (russian, ..) =
            WINDOWS_1251.encode("Название;Город\nООО Перо;Москва\nQuillПеро;Тверь\n");
        assert_eq!(guessed(&russian), "Windows-1251");
        let (chinese, ..) = GBK.encode("名称;城市\n墨水公司;上海\nQuill墨水ABC中国公司;北京\n");
        assert_eq!(guessed(&chinese), "GBK");
        let (japanese, ..) = SHIFT_JIS.encode("名前;都市\n株式会社インク;東京\nペン工業;大阪\n");
        assert_eq!(guessed(&japanese), "Shift_JIS");
    }
}
