//! A complete answer of a server.

use std::io::{self, BufRead, ErrorKind};

use serde_json::Value;

/// Maximum length of a body, or of one chunk of a chunked body, in bytes.
const MAX_BODY_BYTES: usize = 64 * 1024 * 1024;

/// A complete answer.
#[derive(Clone, Debug)]
pub struct Reply {
    /// The HTTP status of the answer.
    pub status: u16,
    /// The status line and the headers.
    pub head: String,
    /// The bytes of the body.
    pub bytes: Vec<u8>,
    /// The body as text, in which `U+FFFD` replaces invalid UTF-8.
    pub body: String,
}

impl Reply {
    /// Returns the value of a header; `None` if the header is missing or occurs more than once.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut values =
            self.headers().filter(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, it)| it);
        values.next().filter(|_| values.next().is_none())
    }

    /// Returns the names and values of all headers, in order.
    pub fn headers(&self) -> impl Iterator<Item = (&str, &str)> {
        let lines = self.head.lines().skip(1).filter_map(|line| line.split_once(':'));
        lines.map(|(name, value)| (name, value.trim()))
    }

    /// Returns the value of a header as a whole number; `None` if the value isn't a whole number,
    /// or [`header`](Self::header) returns `None`.
    pub fn number(&self, name: &str) -> Option<i64> {
        self.header(name)?.parse().ok()
    }

    /// Returns the body as JSON; `null` if the body isn't JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes).unwrap_or(Value::Null)
    }

    /// Reads the next answer on a connection. The answer to a `HEAD` request (`is_head`) has no
    /// body.
    pub(super) fn read(stream: &mut impl BufRead, is_head: bool) -> io::Result<Self> {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            if stream.read_until(b'\n', &mut head)? == 0 {
                return Err(broken_off(&head));
            }
        }
        let head = String::from_utf8(head).map_err(|_| wrong("a head that is not text"))?;
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
        let status = status.ok_or_else(|| wrong("an answer without a status"))?;
        let mut reply = Self { status, head, bytes: Vec::new(), body: String::new() };
        let length = reply.header("Content-Length").and_then(|length| length.parse().ok());
        if is_head || matches!(status, 100..200 | 204 | 304) {
            return Ok(reply);
        }
        reply.bytes = match length {
            Some(length) => read_exactly(stream, length)?,
            None if reply.header("Transfer-Encoding") == Some("chunked") => read_chunks(stream)?,
            None => return Err(wrong("an answer without its length")),
        };
        reply.body = String::from_utf8_lossy(&reply.bytes).into_owned();
        Ok(reply)
    }
}

fn read_exactly(stream: &mut impl BufRead, length: usize) -> io::Result<Vec<u8>> {
    if length > MAX_BODY_BYTES {
        return Err(wrong("an answer without an end"));
    }
    let mut bytes = vec![0; length];
    stream.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn read_chunks(stream: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line)?;
        let length = usize::from_str_radix(line.trim_end(), 16);
        let length = length.map_err(|_| wrong("a chunk without its length"))?;
        body.extend(read_exactly(stream, length)?);
        read_exactly(stream, 2)?;
        if length == 0 {
            return Ok(body);
        }
    }
}

fn broken_off(head: &[u8]) -> io::Error {
    let came = String::from_utf8_lossy(head);
    io::Error::new(ErrorKind::UnexpectedEof, format!("the connection ended after {came:?}"))
}

fn wrong(what: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_one_only_when_it_is_complete() {
        let whole = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nX-Credits-Used: 1\r\n\r\n{  }";
        for length in 0..whole.len() {
            let error = Reply::read(&mut &whole[..length], false).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::UnexpectedEof, "{length} bytes");
        }
        let reply = Reply::read(&mut &whole[..], false).unwrap();
        assert_eq!((reply.status, reply.body.as_str()), (200, "{  }"));
        assert_eq!(reply.header("x-credits-used"), Some("1"));
    }

    #[test]
    fn chunks_are_put_together() {
        let chunked =
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n";
        assert_eq!(Reply::read(&mut &chunked[..], false).unwrap().body, "abc");
    }

    #[test]
    fn an_answer_that_nothing_can_be_read_from_is_an_error() {
        assert!(Reply::read(&mut &b"HTTP/1.1 200 OK\r\n\r\nwithout a length"[..], false).is_err());
        assert!(Reply::read(&mut &b"nonsense\r\n\r\n"[..], false).is_err());
    }
}
