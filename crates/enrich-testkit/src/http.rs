//! A plain HTTP/1.1 client. It sends exactly the given bytes and returns exactly the received
//! bytes. An HTTP library would correct or refuse many of the malformed requests that tests send.

mod call;
mod client;
mod connection;
mod reply;

use std::io;
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

pub use call::{Call, form};
pub use client::{Client, request};
pub use connection::Connection;
pub use reply::Reply;

/// Time limit for each read and each write. If one takes longer, the connection counts as broken.
const PATIENCE: Duration = Duration::from_secs(20);

fn connect(address: SocketAddr) -> io::Result<TcpStream> {
    with_timeouts(TcpStream::connect(address)?)
}

fn with_timeouts(stream: TcpStream) -> io::Result<TcpStream> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    stream.set_nodelay(true)?;
    Ok(stream)
}
