//! Many connections in one thread: opened, and looked at in turn.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use socket2::{Domain, Socket, Type};

/// How long a connection may take to be made. A server whose queue is full answers none.
const CONNECT_TIME: Duration = Duration::from_secs(1);

/// Connections of an attack; those that the server ends are opened again.
pub(crate) struct Sockets {
    server: SocketAddr,
    /// What each connection sends first.
    opening: Vec<u8>,
    /// Bytes that the system may keep for the reader; the system's own number if absent.
    receive_buffer: Option<usize>,
    open: Vec<Option<TcpStream>>,
    /// How often a connection was made.
    pub(crate) made: usize,
}

impl Sockets {
    /// Room for so many connections, none of them open.
    pub(crate) fn new(server: SocketAddr, count: usize, opening: Vec<u8>) -> Self {
        let open = (0..count).map(|_| None).collect();
        Self { server, opening, receive_buffer: None, open, made: 0 }
    }

    /// The same with little room for what is received, so that the sender soon has to wait.
    pub(crate) fn with_receive_buffer(self, bytes: usize) -> Self {
        Self { receive_buffer: Some(bytes), ..self }
    }

    /// How many are open, as far as is known.
    pub(crate) fn count(&self) -> usize {
        self.open.iter().flatten().count()
    }

    /// Opens those that are not, at most so many; whether there are more to open.
    pub(crate) fn open(&mut self, most: usize) -> bool {
        let closed: Vec<usize> =
            (0..self.open.len()).filter(|&index| self.open[index].is_none()).collect();
        for &index in closed.iter().take(most) {
            // What could not be opened now is tried again later.
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

    /// Reads at most so many bytes from each, and returns how many came in all.
    pub(crate) fn read_each(&mut self, most: usize) -> usize {
        let mut buffer = vec![0; most];
        self.each(|stream| stream.read(&mut buffer))
    }

    /// Sends the same bytes on each; what does not fit is left out.
    pub(crate) fn write_each(&mut self, bytes: &[u8]) -> usize {
        self.each(|stream| stream.write(bytes))
    }

    /// What `act` gives for each in all; those that fail or have ended are closed.
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
