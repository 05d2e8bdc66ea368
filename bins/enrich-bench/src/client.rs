//! A small HTTP client that sends the load generator's requests and returns the answers for checks.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread;
use std::time::Duration;

use anyhow::{Context, bail};
use serde_json::Value;

/// Time limit for an answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// A connection that is kept open.
pub(crate) struct Connection(BufReader<TcpStream>);

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Connection {
    pub(crate) fn open(address: SocketAddr) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        Ok(Self(BufReader::new(stream)))
    }

    /// Sends a request and waits for its answer.
    pub(crate) fn send(&mut self, request: &[u8]) -> anyhow::Result<Answer> {
        self.0.get_mut().write_all(request)?;
        let line = self.line()?;
        let status = line.split(' ').nth(1).and_then(|status| status.parse().ok());
        let status = status.with_context(|| format!("`{line}` is no status line"))?;
        let mut headers = Vec::new();
        loop {
            let line = self.line()?;
            if line.is_empty() {
                break;
            }
            let (name, value) = line.split_once(':').with_context(|| format!("header `{line}`"))?;
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        let mut answer = Answer { status, headers, body: Vec::new() };
        let bytes = answer.header("content-length").context("an answer without a length")?;
        answer.body.resize(bytes.parse()?, 0);
        self.0.read_exact(&mut answer.body)?;
        Ok(answer)
    }

    fn line(&mut self) -> anyhow::Result<String> {
        let mut line = String::new();
        if self.0.read_line(&mut line)? == 0 {
            bail!("the server closed the connection");
        }
        Ok(line.trim_end().to_owned())
    }
}

impl Answer {
    /// The value of a header; `name` is in lower case.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        headers.find(|(there, _)| there == name).map(|(_, value)| value.as_str())
    }

    /// The body as JSON.
    pub(crate) fn json(&self) -> anyhow::Result<Value> {
        let text = || String::from_utf8_lossy(&self.body);
        serde_json::from_slice(&self.body).with_context(|| format!("no JSON: {}", text()))
    }
}

/// Requests a page.
pub(crate) fn page(address: SocketAddr, path: &str) -> anyhow::Result<String> {
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n");
    let answer = Connection::open(address)?.send(request.as_bytes())?;
    if answer.status != 200 {
        bail!("{path} answers with status {}", answer.status);
    }
    Ok(String::from_utf8(answer.body)?)
}

/// Sends every request once over several connections; returns the answers in order.
pub(crate) fn send_all(
    address: SocketAddr,
    requests: &[Vec<u8>],
    connections: usize,
) -> anyhow::Result<Vec<Answer>> {
    let share = requests.len().div_ceil(connections).max(1);
    thread::scope(|scope| {
        let send = |requests: &'_ [Vec<u8>]| -> anyhow::Result<Vec<Answer>> {
            let mut connection = Connection::open(address)?;
            requests.iter().map(|request| connection.send(request)).collect()
        };
        let threads: Vec<_> =
            requests.chunks(share).map(|requests| scope.spawn(move || send(requests))).collect();
        let mut answers = Vec::with_capacity(requests.len());
        for thread in threads {
            match thread.join() {
                Ok(part) => answers.extend(part?),
                Err(_) => bail!("a thread of the client panicked"),
            }
        }
        Ok(answers)
    })
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    /// A server that answers every request on one connection with `answer`.
    fn server(answer: &'static str) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut bytes = [0; 1024];
            while stream.read(&mut bytes).is_ok_and(|read| read > 0) {
                stream.write_all(answer.as_bytes()).unwrap();
            }
        });
        address
    }

    #[test]
    fn answers_are_read_to_their_end_and_the_connection_stays_open() {
        let address =
            server("HTTP/1.1 200 OK\r\nContent-Length: 7\r\nX-Credits-Used: 1\r\n\r\n{\"a\":1}");
        let requests = vec![b"GET / HTTP/1.1\r\n\r\n".to_vec(); 3];
        let answers = send_all(address, &requests, 1).unwrap();
        assert_eq!(answers.len(), 3);
        assert!(answers.iter().all(|answer| answer.json().unwrap()["a"] == 1));
        assert_eq!(answers[2].header("x-credits-used"), Some("1"));
        assert_eq!(answers[2].status, 200);
    }

    #[test]
    fn a_server_that_says_something_else_is_noticed() {
        assert!(page(server("SSH-2.0-OpenSSH\r\n\r\n"), "/").is_err());
        assert!(page(server("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n"), "/").is_err());
    }
}
