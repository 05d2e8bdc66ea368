//! A reader that converts a text to UTF-8.

use std::cell::Cell;
use std::io::{self, BufRead, Cursor, Read};
use std::rc::Rc;

use encoding_rs::{Decoder, Encoding, UTF_8, UTF_16BE, UTF_16LE};
use enrich_mapping::CodePage;

use crate::encoding_guess::guess;
use crate::old_line_ends::{has_old_line_ends, with_usual_line_ends};
use crate::text_encoding::TextEncoding;

/// Number of bytes that are examined to guess an encoding. The examination begins at the first byte
/// that is not ASCII.
const WINDOW_BYTES: usize = 64 * 1024;

/// Returns the encoding that the first bytes of a text show, and the length of the byte order mark
/// in bytes (0 without a mark). Returns `None` if the first bytes do not show the encoding.
pub(crate) fn detect_by_start(head: &[u8]) -> Option<(TextEncoding, usize)> {
    if let Some((encoding, mark)) = Encoding::for_bom(head) {
        return Some((TextEncoding::Standard(encoding), mark));
    }
    // In UTF-16 text, every second byte is often zero. Text in other encodings has no zero bytes.
    let zeros = |odd: usize| head.iter().skip(odd).step_by(2).filter(|byte| **byte == 0).count();
    let (even, odd) = (zeros(0), zeros(1));
    let is_full = |zeros: usize, others: usize| 4 * zeros >= head.len() && zeros > 10 * others;
    if is_full(odd, even) {
        Some((TextEncoding::Standard(UTF_16LE), 0))
    } else if is_full(even, odd) {
        Some((TextEncoding::Standard(UTF_16BE), 0))
    } else {
        None
    }
}

/// The encoding of a text, shared with the reader that detects it. It contains `None` until the
/// reader has read enough of the text.
#[derive(Clone, Default)]
pub(crate) struct KnownEncoding(Rc<Cell<Option<TextEncoding>>>);

impl KnownEncoding {
    /// Returns the encoding. If it is not known yet, returns UTF-8, because all text that was read
    /// so far is ASCII, which is also valid UTF-8.
    pub(crate) fn get(&self) -> TextEncoding {
        self.0.get().unwrap_or(TextEncoding::UTF_8)
    }
}

/// A reader that converts a text to UTF-8. Text in UTF-8 passes through unchanged, even if it has
/// invalid bytes.
pub(crate) struct Decoding {
    input: Box<dyn BufRead>,
    state: State,
    /// Whether to guess the encoding if the text isn't UTF-8. If this is `false`, the text is
    /// treated as UTF-8.
    guesses: bool,
    known: KnownEncoding,
    decoded: Vec<u8>,
    given: usize,
}

enum State {
    /// All text that was read so far is ASCII. The number says how many bytes in the input's buffer
    /// are known to be ASCII.
    Ascii(usize),
    Utf8,
    Other(Decoder),
    Page(CodePage),
    /// The text has ended. The decoder of the state `Other` must not be called any more.
    Ended,
}

impl Decoding {
    /// Returns a reader that converts `input` to UTF-8. `head` is the beginning of `input`. If
    /// `chosen` is `Some`, the text has this encoding. Otherwise it has the encoding that `head`
    /// shows. If `head` shows no encoding, the encoding is decided at the first byte that isn't
    /// ASCII: it is guessed if `guesses` is `true`, and UTF-8 otherwise. If the lines end with CR
    /// alone, the reader replaces each CR by LF.
    pub(crate) fn new(
        mut input: Box<dyn BufRead>,
        head: &[u8],
        chosen: Option<TextEncoding>,
        guesses: bool,
    ) -> io::Result<(Self, KnownEncoding)> {
        if has_old_line_ends(head) {
            input = Box::new(with_usual_line_ends(input));
        }
        let detected = detect_by_start(head);
        let detected = match chosen {
            // The label `utf-16` does not say which byte order the text has. So the byte order is
            // detected from the text.
            Some(chosen) if chosen.is_utf_16() => {
                Some(detected.filter(|(detected, _)| detected.is_utf_16()).unwrap_or((chosen, 0)))
            }
            Some(chosen) => {
                Some((chosen, detected.filter(|(t, _)| *t == chosen).map_or(0, |t| t.1)))
            }
            None => detected,
        };
        let known = KnownEncoding::default();
        known.0.set(detected.map(|(encoding, _)| encoding));
        let state = match detected {
            None => State::Ascii(0),
            Some((encoding, mark)) => {
                skip(&mut input, mark)?;
                State::of(encoding)
            }
        };
        let shared = known.clone();
        Ok((Self { input, state, guesses, known, decoded: Vec::new(), given: 0 }, shared))
    }

    /// Decides the encoding. At this point, the input begins with the first byte that isn't ASCII.
    fn decide(&mut self) -> io::Result<()> {
        let mut window = Vec::new();
        let failure = (&mut self.input).take(WINDOW_BYTES as u64).read_to_end(&mut window).err();
        let is_cut = window.len() == WINDOW_BYTES;
        let encoding = if self.guesses { guess(&window, is_cut) } else { TextEncoding::UTF_8 };
        self.known.0.set(Some(encoding));
        self.state = State::of(encoding);
        let rest = std::mem::replace(&mut self.input, Box::new(io::empty()));
        self.input = resumed(window, failure, rest);
        Ok(())
    }

    fn decode(&mut self) -> io::Result<()> {
        let decoder = match &mut self.state {
            State::Other(decoder) => decoder,
            State::Page(page) => {
                let ready = self.input.fill_buf()?;
                let read = ready.len();
                self.decoded = page.decode(ready).into_bytes();
                self.given = 0;
                self.input.consume(read);
                return Ok(());
            }
            _ => return Ok(()),
        };
        self.decoded.clear();
        self.given = 0;
        while self.decoded.is_empty() {
            let ready = self.input.fill_buf()?;
            let (is_last, length) = (ready.is_empty(), ready.len());
            let most = decoder.max_utf8_buffer_length(length).unwrap_or(4 * WINDOW_BYTES);
            self.decoded.resize(most.clamp(16, 4 * WINDOW_BYTES), 0);
            let (_, read, written, _) = decoder.decode_to_utf8(ready, &mut self.decoded, is_last);
            self.decoded.truncate(written);
            self.input.consume(read);
            if is_last {
                self.state = State::Ended;
                break;
            }
        }
        Ok(())
    }
}

impl State {
    fn of(encoding: TextEncoding) -> Self {
        match encoding {
            TextEncoding::Standard(encoding) if encoding == UTF_8 => Self::Utf8,
            TextEncoding::Standard(encoding) => {
                Self::Other(encoding.new_decoder_without_bom_handling())
            }
            TextEncoding::Page(page) => Self::Page(page),
        }
    }
}

impl BufRead for Decoding {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if let State::Ascii(0) = self.state {
            let ready = self.input.fill_buf()?;
            let ascii = ready.iter().position(|byte| !byte.is_ascii()).unwrap_or(ready.len());
            let is_text_left = ascii < ready.len();
            self.state = State::Ascii(ascii);
            if ascii == 0 && is_text_left {
                self.decide()?;
            }
        }
        if let State::Other(_) | State::Page(_) = self.state
            && self.given >= self.decoded.len()
        {
            self.decode()?;
        }
        match self.state {
            State::Ascii(ascii) => Ok(self.input.fill_buf()?.get(..ascii).unwrap_or_default()),
            State::Utf8 => self.input.fill_buf(),
            State::Other(_) | State::Page(_) | State::Ended => {
                Ok(self.decoded.get(self.given..).unwrap_or_default())
            }
        }
    }

    fn consume(&mut self, amount: usize) {
        match &mut self.state {
            State::Ascii(ascii) => {
                *ascii = ascii.saturating_sub(amount);
                self.input.consume(amount);
            }
            State::Utf8 => self.input.consume(amount),
            State::Other(_) | State::Page(_) | State::Ended => self.given += amount,
        }
    }
}

impl Read for Decoding {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(buffer)?;
        self.consume(read);
        Ok(read)
    }
}

fn skip(input: &mut impl BufRead, mut bytes: usize) -> io::Result<()> {
    while bytes > 0 {
        let ready = input.fill_buf()?.len().min(bytes);
        if ready == 0 {
            break;
        }
        input.consume(ready);
        bytes -= ready;
    }
    Ok(())
}

/// Returns a reader of three parts, one after the other: the bytes that were read ahead, then the
/// error that stopped the reading ahead (if there was one), then the rest of the input.
pub(crate) fn resumed(
    head: Vec<u8>,
    failure: Option<io::Error>,
    rest: Box<dyn BufRead>,
) -> Box<dyn BufRead> {
    Box::new(Cursor::new(head).chain(Failed(failure)).chain(rest))
}

/// A reader that returns an error once. After that, it is at its end.
struct Failed(Option<io::Error>);

impl BufRead for Failed {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.0.take().map_or(Ok(&[]), Err)
    }

    fn consume(&mut self, _: usize) {}
}

impl Read for Failed {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Slow(Cursor<Vec<u8>>);

    impl Read for Slow {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let most = buffer.len().min(3);
            self.0.read(&mut buffer[..most])
        }
    }

    fn decoded(bytes: &[u8], chosen: Option<&str>) -> (Vec<u8>, String) {
        let input = Box::new(io::BufReader::new(Slow(Cursor::new(bytes.to_vec()))));
        let chosen = chosen.map(|label| TextEncoding::parse(label).unwrap());
        let (mut decoding, known) = Decoding::new(input, bytes, chosen, true).unwrap();
        let mut text = Vec::new();
        decoding.read_to_end(&mut text).unwrap();
        (text, known.get().name())
    }

    fn utf_16(text: &str, is_little: bool) -> Vec<u8> {
        let bytes = |unit: u16| if is_little { unit.to_le_bytes() } else { unit.to_be_bytes() };
        text.encode_utf16().flat_map(bytes).collect()
    }

    #[test]
    fn the_encoding_is_told_and_the_text_is_utf_8() {
        let text = "Firma;Ort\nMüller & Söhne;Zürich\n";
        let western: Vec<u8> = text.chars().map(|letter| letter as u8).collect();
        let cases = [
            (text.as_bytes().to_vec(), "UTF-8"),
            ([b"\xef\xbb\xbf", text.as_bytes()].concat(), "UTF-8"),
            (utf_16(text, true), "UTF-16"),
            (utf_16(text, false), "UTF-16"),
            (utf_16(&format!("\u{feff}{text}"), true), "UTF-16"),
            (utf_16(&format!("\u{feff}{text}"), false), "UTF-16"),
            (western, "Windows-1252"),
        ];
        for (bytes, name) in cases {
            let (decoded, encoding) = decoded(&bytes, None);
            assert_eq!((decoded.as_slice(), encoding.as_str()), (text.as_bytes(), name));
        }
    }

    #[test]
    fn an_encoding_shows_far_behind_the_beginning_too() {
        let mut bytes = b"Company,City\n".repeat(20_000);
        bytes.extend_from_slice(b"Caf\xe9 M\xfcller,Gen\xe8ve\n");
        let (text, encoding) = decoded(&bytes, None);
        assert!(text.ends_with("Café Müller,Genève\n".as_bytes()));
        assert_eq!(encoding, "Windows-1252");
    }

    #[test]
    fn a_damaged_letter_among_others_stays_for_its_row_to_be_rejected() {
        let bytes = b"n\nCaf\xc3\xa9\nM\xc3\xbcller\nQu\xffill\n";
        let (text, encoding) = decoded(bytes, None);
        assert_eq!((text.as_slice(), encoding.as_str()), (&bytes[..], "UTF-8"));
    }

    #[test]
    fn what_is_chosen_counts() {
        let text = "Caf\u{c3}\u{a9}";
        assert_eq!(decoded("Café".as_bytes(), Some("windows-1252")).0, text.as_bytes());
        assert_eq!(decoded(&utf_16("Ab", false), Some("utf-16")).0, b"Ab");
        assert_eq!(decoded(b"Caf\xe9", Some("utf-8")).0, b"Caf\xe9");
    }

    #[test]
    fn code_pages_are_decoded() {
        let text = "Müller & Söhne".repeat(3);
        let bytes = b"M\x81ller & S\x94hne".repeat(3);
        for chosen in [None, Some("cp850")] {
            assert_eq!(decoded(&bytes, chosen), (text.clone().into_bytes(), "CP850".to_owned()));
        }
    }
}
