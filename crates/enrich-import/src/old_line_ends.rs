//! Reads texts whose lines end with CR alone, as FileMaker and other programs of the Macintosh
//! write them.

use std::io::{self, BufRead, BufReader, Read};

/// Whether the lines of a text that begins with `head` end with CR alone. Returns `false` for
/// UTF-16.
pub(crate) fn has_old_line_ends(head: &[u8]) -> bool {
    let count = |wanted: u8| head.iter().filter(|byte| **byte == wanted).count();
    count(b'\r') > 1 && count(b'\n') == 0 && count(0) == 0
}

/// Returns a reader that replaces each CR of `input` by LF. FileMaker writes a line break inside a
/// field as VT, and puts GS between the values of a repeated field. The reader replaces both by
/// blanks.
pub(crate) fn with_usual_line_ends(input: impl Read) -> impl BufRead {
    BufReader::new(UsualLineEnds { input, is_after_return: false })
}

struct UsualLineEnds<R> {
    input: R,
    /// Whether the last byte that was read is CR.
    is_after_return: bool,
}

impl<R: Read> Read for UsualLineEnds<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let (read, mut given) = (self.input.read(buffer)?, 0);
            for at in 0..read {
                let byte = buffer[at];
                // A later line may end with CR LF. Its CR has become LF, so the LF after it is left
                // out.
                let is_second = byte == b'\n' && self.is_after_return;
                self.is_after_return = byte == b'\r';
                if !is_second {
                    buffer[given] = match byte {
                        b'\r' => b'\n',
                        0x0b | 0x1d => b' ',
                        _ => byte,
                    };
                    given += 1;
                }
            }
            if given > 0 || read == 0 {
                return Ok(given);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_end_with_cr_alone_are_recognised() {
        for (head, expected) in [
            ("a,b\r1,2\r", true),
            ("a,b\r\n1,2\r\n", false),
            ("a,b\n\"1\r2\r\",3\n", false),
            ("a\0,\0\r\0b\0\r\0", false),
            ("a,b", false),
        ] {
            assert_eq!(has_old_line_ends(head.as_bytes()), expected, "{head:?}");
        }
    }

    #[test]
    fn the_text_has_usual_line_ends() {
        let mut text = String::new();
        let input = io::Cursor::new("a,b\r1\u{b}2,x\u{1d}y\r\n\r");
        with_usual_line_ends(input).read_to_string(&mut text).unwrap();
        assert_eq!(text, "a,b\n1 2,x y\n\n");
    }
}
