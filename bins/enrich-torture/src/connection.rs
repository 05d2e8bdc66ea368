//! A plain HTTP/1.1 client that keeps its connection and notes when an answer was complete.
//!
//! Unlike a library, it distinguishes a complete answer from one that broke off.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// How long to wait for data before the connection counts as broken.
const PATIENCE: Duration = Duration::from_secs(20);
/// The largest answer; the harness's answers have some hundred bytes.
const MAX_ANSWER_BYTES: usize = 1024 * 1024;

/// A connection to the server, used by one thread for one request at a time.
#[derive(Debug)]
pub(crate) struct Connection {
    server: SocketAddr,
    stream: Option<TcpStream>,
}

/// A complete answer.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    head: String,
    pub(crate) body: String,
}

impl Connection {
    /// A connection that is opened at its first use.
    pub(crate) fn to(server: SocketAddr) -> Self {
        Self { server, stream: None }
    }

    /// Sends a JSON body and reads the whole answer.
    ///
    /// # Errors
    ///
    /// When the connection cannot be opened, or breaks before the answer is complete.
    pub(crate) fn post(
        &mut self,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> io::Result<Reply> {
        let mut request = format!("POST {path} HTTP/1.1\r\nHost: {}\r\n", self.server);
        for (name, value) in headers {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
        let length = body.len();
        request.push_str(&format!(
            "Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        ));
        self.send(&request)
    }

    /// Requests a page.
    ///
    /// # Errors
    ///
    /// As [`Connection::post`].
    pub(crate) fn get(&mut self, path: &str) -> io::Result<Reply> {
        self.get_with(path, &[])
    }

    /// Requests a page with additional headers.
    ///
    /// # Errors
    ///
    /// As [`Connection::post`].
    pub(crate) fn get_with(&mut self, path: &str, headers: &[(&str, &str)]) -> io::Result<Reply> {
        let mut request = format!("GET {path} HTTP/1.1\r\nHost: {}\r\n", self.server);
        for (name, value) in headers {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
        self.send(&(request + "\r\n"))
    }

    fn send(&mut self, request: &str) -> io::Result<Reply> {
        let mut stream = match self.stream.take() {
            Some(stream) => stream,
            None => self.open()?,
        };
        stream.write_all(request.as_bytes())?;
        let reply = receive(&mut stream)?;
        if !reply.header("Connection").is_some_and(|value| value.eq_ignore_ascii_case("close")) {
            self.stream = Some(stream);
        }
        Ok(reply)
    }

    fn open(&self) -> io::Result<TcpStream> {
        let stream = TcpStream::connect(self.server)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        stream.set_nodelay(true)?;
        Ok(stream)
    }
}

impl Reply {
    /// The first value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.split("\r\n").filter_map(|line| line.split_once(':'));
        let (_, value) = lines.find(|(given, _)| given.eq_ignore_ascii_case(name))?;
        Some(value.trim())
    }

    /// `None` while the answer is incomplete.
    fn parse(bytes: &[u8]) -> io::Result<Option<Self>> {
        let wrong = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what.to_owned());
        let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else {
            return Ok(None);
        };
        let head =
            std::str::from_utf8(&bytes[..end]).map_err(|_| wrong("a head that is no text"))?;
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
        let status = status.ok_or_else(|| wrong("an answer without a status"))?;
        let mut reply = Self { status, head: head.to_owned(), body: String::new() };
        let length = reply.header("Content-Length").and_then(|length| length.parse().ok());
        let length: usize = length.ok_or_else(|| wrong("an answer without its length"))?;
        let rest = &bytes[end + 4..];
        if rest.len() > length {
            return Err(wrong("more than one answer to one request"));
        }
        if rest.len() < length {
            return Ok(None);
        }
        let body = std::str::from_utf8(rest).map_err(|_| wrong("a body that is no text"))?;
        reply.body = body.to_owned();
        Ok(Some(reply))
    }
}

fn receive(stream: &mut TcpStream) -> io::Result<Reply> {
    let mut bytes = Vec::with_capacity(1024);
    let mut buffer = [0; 4096];
    while bytes.len() <= MAX_ANSWER_BYTES {
        let count = stream.read(&mut buffer)?;
        if count == 0 {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the answer broke off"));
        }
        bytes.extend_from_slice(&buffer[..count]);
        if let Some(reply) = Reply::parse(&bytes)? {
            return Ok(reply);
        }
    }
    Err(io::Error::new(io::ErrorKind::InvalidData, "an answer without an end"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_one_only_when_it_is_complete() {
        let whole = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nX-Credits-Used: 1\r\n\r\n{  }";
        for length in 0..whole.len() {
            assert!(Reply::parse(&whole[..length]).unwrap().is_none(), "{length} bytes");
        }
        let reply = Reply::parse(whole).unwrap().unwrap();
        assert_eq!((reply.status, reply.body.as_str()), (200, "{  }"));
        assert_eq!(reply.header("x-credits-used"), Some("1"));
    }

    #[test]
    fn an_answer_that_nothing_can_be_read_from_is_an_error() {
        assert!(Reply::parse(b"HTTP/1.1 200 OK\r\n\r\nwithout a length").is_err());
        assert!(Reply::parse(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n{}").is_err());
        assert!(Reply::parse(b"nonsense\r\n\r\n").is_err());
    }
}
