//! The connections of an attack, up to several thousand. One thread uses them in turn.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use socket2::{Domain, Socket, Type};

/// Time limit for opening a connection. While the accept queue of the server is full, the server
/// does not answer.
const CONNECT_TIME: Duration = Duration::from_secs(1);

/// The connections of an attack. If the server closes a connection, [`Sockets::open`] opens it
/// again.
pub(crate) struct Sockets {
    server: SocketAddr,
    /// The first bytes that each connection sends.
    opening: Vec<u8>,
    /// The size of each receive buffer, in bytes; `None` for the operating system's default.
    receive_buffer: Option<usize>,
    open: Vec<Option<TcpStream>>,
    /// The number of times that a connection was opened.
    pub(crate) made: usize,
}

impl Sockets {
    /// Returns `count` connections, all closed. Each sends `opening` when it is opened.
    pub(crate) fn new(server: SocketAddr, count: usize, opening: Vec<u8>) -> Self {
        let open = (0..count).map(|_| None).collect();
        Self { server, opening, receive_buffer: None, open, made: 0 }
    }

    /// Sets a small receive buffer. The server can then send only a little before it must wait for
    /// the client.
    pub(crate) fn with_receive_buffer(self, bytes: usize) -> Self {
        Self { receive_buffer: Some(bytes), ..self }
    }

    /// Returns the number of connections that are open. A connection that the server has closed
    /// counts as open until it is used.
    pub(crate) fn count(&self) -> usize {
        self.open.iter().flatten().count()
    }

    /// Opens at most `most` of the closed connections. Returns whether some are still closed.
    pub(crate) fn open(&mut self, most: usize) -> bool {
        let closed: Vec<usize> =
            (0..self.open.len()).filter(|&index| self.open[index].is_none()).collect();
        for &index in closed.iter().take(most) {
            // If a connection cannot be opened, it stays closed, and the next call of this function
            // tries again.
            let Ok(stream) = self.connect() else { return true };
            self.open[index] = Some(stream);
            self.made += 1;
        }
        closed.len() > most
    }

    fn connect(&self) -> io::Result<TcpStream> {
        let socket = Socket::new(Domain::for_address(self.server), Type::STREAM, None)?;
        if let Some(bytes) = self.receive_buffer {
            socket.set_recv_buffer_size(bytes)?;
        }
        socket.connect_timeout(&self.server.into(), CONNECT_TIME)?;
        let mut stream = TcpStream::from(socket);
        stream.set_nodelay(true)?;
        stream.write_all(&self.opening)?;
        stream.set_nonblocking(true)?;
        Ok(stream)
    }

    /// Reads at most `most` bytes from each connection. Returns the total number of bytes read.
    pub(crate) fn read_each(&mut self, most: usize) -> usize {
        let mut buffer = vec![0; most];
        self.each(|stream| stream.read(&mut buffer))
    }

    /// Sends the same bytes on each connection. If a connection's buffer has too little room,
    /// sends fewer bytes on it. Returns the total number of bytes sent.
    pub(crate) fn write_each(&mut self, bytes: &[u8]) -> usize {
        self.each(|stream| stream.write(bytes))
    }

    /// Calls `act` for each connection, and returns the sum of the results. Closes connections that
    /// fail or that the server has ended.
    fn each(&mut self, mut act: impl FnMut(&mut TcpStream) -> io::Result<usize>) -> usize {
        let mut all = 0;
        for place in &mut self.open {
            let Some(stream) = place else { continue };
            match act(stream) {
                Ok(0) => *place = None,
                Ok(count) => all += count,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(_) => *place = None,
            }
        }
        all
    }
}
