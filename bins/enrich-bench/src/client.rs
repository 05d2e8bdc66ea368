//! Sends the same requests as the load generator, and returns the answers, so that they can be
//! checked. The load generator itself does not check answers.

use std::net::SocketAddr;
use std::thread;

use anyhow::bail;
use enrich_testkit::http::{Connection, Reply};

pub(crate) fn get(address: SocketAddr, path: &str) -> anyhow::Result<String> {
    let answer = Connection::to(address).get(path, &[])?;
    if answer.status != 200 {
        bail!("{path} answers with status {}", answer.status);
    }
    Ok(answer.body)
}

/// Sends every request once over several connections. Returns the answers in the order of the
/// requests.
pub(crate) fn send_all(
    address: SocketAddr,
    requests: &[Vec<u8>],
    connections: usize,
) -> anyhow::Result<Vec<Reply>> {
    let share = requests.len().div_ceil(connections).max(1);
    thread::scope(|scope| {
        let send = |requests: &'_ [Vec<u8>]| -> anyhow::Result<Vec<Reply>> {
            let mut connection = Connection::to(address);
            requests.iter().map(|request| Ok(connection.send(request)?)).collect()
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
    use std::io::{Read, Write};
    use std::net::TcpListener;

    use super::*;

    /// Starts a server that answers every request on one connection with `answer`.
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
        assert!(answers.iter().all(|answer| answer.json()["a"] == 1));
        assert_eq!(answers[2].header("x-credits-used"), Some("1"));
        assert_eq!(answers[2].status, 200);
    }

    #[test]
    fn a_server_that_says_something_else_is_noticed() {
        assert!(get(server("SSH-2.0-OpenSSH\r\n\r\n"), "/").is_err());
        assert!(get(server("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n"), "/").is_err());
    }
}
