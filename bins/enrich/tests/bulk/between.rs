//! A proxy in front of a server. The proxy fails or delays some requests, and passes on the others.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

/// A proxy that listens until the test's process ends.
pub(crate) struct Between {
    address: SocketAddr,
}

#[derive(Clone, Copy)]
enum Manner {
    /// A request that contains this text gets an error and isn't passed on.
    Failing(&'static str),
    /// Every answer is delayed by this duration.
    Slow(Duration),
}

impl Between {
    pub(crate) fn failing(server: SocketAddr, word: &'static str) -> Self {
        Self::before(server, Manner::Failing(word))
    }

    /// Starts a proxy that delays every answer by `each`. So even on a fast machine, a connection
    /// gets at most one answer in this time.
    pub(crate) fn slow(server: SocketAddr, each: Duration) -> Self {
        Self::before(server, Manner::Slow(each))
    }

    fn before(server: SocketAddr, manner: Manner) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            for client in listener.incoming() {
                let client = client.unwrap();
                // An error is ignored: it only means that the client or the server closed its
                // connection.
                thread::spawn(move || hand_on(client, server, manner).ok());
            }
        });
        Self { address }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

fn hand_on(mut client: TcpStream, server: SocketAddr, manner: Manner) -> io::Result<()> {
    let mut upstream = TcpStream::connect(server)?;
    while let Some(request) = message(&mut client)? {
        match manner {
            Manner::Failing(word) if String::from_utf8_lossy(&request).contains(word) => {
                let body = r#"{"type":"api_error","message":"this one fails"}"#;
                let head = "HTTP/1.1 500 Internal Server Error\r\nContent-Length: ";
                client.write_all(format!("{head}{}\r\n\r\n{body}", body.len()).as_bytes())?;
                continue;
            }
            Manner::Failing(_) => {}
            Manner::Slow(each) => thread::sleep(each),
        }
        upstream.write_all(&request)?;
        let Some(answer) = message(&mut upstream)? else { break };
        client.write_all(&answer)?;
    }
    Ok(())
}

/// Reads an HTTP message: its head, and a body of the length that the head announces. Returns
/// `None` if the stream ends before.
fn message(stream: &mut TcpStream) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..end]).to_ascii_lowercase();
            let length = head.split("content-length:").nth(1).unwrap_or("0");
            let length: usize = length.lines().next().unwrap().trim().parse().unwrap();
            if bytes.len() >= end + 4 + length {
                return Ok(Some(bytes));
            }
        }
        let read = stream.read(&mut buffer)?;
        if read == 0 {
            return Ok(None);
        }
        bytes.extend_from_slice(&buffer[..read]);
    }
}
