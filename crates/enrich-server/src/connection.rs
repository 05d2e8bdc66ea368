//! A connection that ends: when nothing goes forward on it, and after the answer that says so.
//!
//! The HTTP layer times the head of a connection's first request and the pause between requests.
//! It does not time the heads that follow, nor a caller who takes no answer; each of them could
//! hold a connection for ever. And after an answer with `Connection: close` to a request whose
//! chunked body was not read, it reads on to the end of that body, however long it is, and then
//! answers what comes next, which the caller does not expect any more (RFC 9112, section 9.6).
//!
//! Nor does it bound what a caller sends ahead: all that fits into its buffer is read and parsed into
//! requests that wait, each of them many times as large as it was sent. So it is handed one read in
//! each turn, and none while a request is being answered or its answer waits for its reader.

use std::cell::Cell;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use actix_web::rt::net::TcpStream;
use actix_web::rt::time::{Instant, Sleep, sleep_until};
use futures_util::FutureExt;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::task::unconstrained;

use crate::admission::Admission;

/// How long a connection may stand still.
#[derive(Clone, Copy, Debug)]
pub struct StallTimeouts {
    /// From a request's first byte to its answer's first.
    pub answer: Duration,
    /// While the other side takes nothing of an answer.
    pub write: Duration,
}

/// How long what still comes is read, and thrown away, after a connection's last answer: closing
/// at once would make the other side's system throw away the answer on its way (RFC 9112,
/// section 9.6).
pub(crate) const LINGER: Duration = Duration::from_secs(1);

/// What a connection writes in one turn, in bytes. More would hold up the others of its worker, a probe
/// of the health pages among them.
const TURN_BYTES: usize = 16 * 1024;

/// Whether the last answer of a connection was given.
#[derive(Clone, Default)]
pub(crate) struct LastAnswer(Rc<Cell<bool>>);

impl LastAnswer {
    /// From now on nothing that comes is a request.
    pub(crate) fn give(&self) {
        self.0.set(true);
    }

    /// Whether it was given.
    pub(crate) fn is_given(&self) -> bool {
        self.0.get()
    }
}

/// Whether the request at hand may take as long as it needs while it goes forward: a file that is
/// uploaded.
#[derive(Clone, Default)]
pub(crate) struct UploadExemption(Rc<Cell<bool>>);

impl UploadExemption {
    /// From now on patience begins anew with every byte, until the answer.
    pub(crate) fn begin(&self) {
        self.0.set(true);
    }
}

/// Whether the request at hand has come to its end and is being answered: what its sender sends
/// behind it is left where it is, in the system's buffer.
#[derive(Clone, Default)]
pub(crate) struct InputGate(Rc<Cell<bool>>);

impl InputGate {
    /// The request is complete.
    pub(crate) fn close(&self) {
        self.0.set(true);
    }

    /// It was answered.
    pub(crate) fn open(&self) {
        self.0.set(false);
    }

    fn is_closed(&self) -> bool {
        self.0.get()
    }
}

/// What a connection and the handler of its requests tell each other.
#[derive(Clone)]
pub(crate) struct ConnectionSignals {
    pub(crate) last_answer: LastAnswer,
    pub(crate) upload_exemption: UploadExemption,
    pub(crate) input: InputGate,
    pub(crate) admission: Rc<Admission>,
}

/// What is being waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Awaits {
    /// Nothing: all that came was answered. The HTTP layer times this.
    Nothing,
    /// That something is written, since bytes have come.
    Answer,
    /// That the other side takes more.
    Reader,
    /// That the other side ends the connection, since the last answer is on its way.
    End,
}

/// A TCP connection whose reads and writes fail once it is to end.
pub(crate) struct Connection {
    stream: TcpStream,
    stall_timeouts: StallTimeouts,
    signals: ConnectionSignals,
    awaits: Awaits,
    /// Whether something was read in this turn.
    has_read: bool,
    /// How many bytes were written in this turn.
    written_bytes: usize,
    /// Whether there is something to read that was left for another turn.
    has_more: bool,
    /// Until when; of no meaning while nothing is awaited.
    deadline: Instant,
    /// Wakes the connection at the deadline or before it, since most requests are answered long
    /// before theirs: it is set anew when it has run out, not for each of them.
    timer: Option<Pin<Box<Sleep>>>,
    /// Whom the timer wakes, once it knows.
    woken: Option<Waker>,
}

impl Connection {
    pub(crate) fn new(
        stream: TcpStream,
        stall_timeouts: StallTimeouts,
        admission: Rc<Admission>,
    ) -> Self {
        let signals = ConnectionSignals {
            last_answer: LastAnswer::default(),
            upload_exemption: UploadExemption::default(),
            input: InputGate::default(),
            admission,
        };
        Self {
            stream,
            stall_timeouts,
            signals,
            awaits: Awaits::Nothing,
            has_read: false,
            written_bytes: 0,
            has_more: false,
            deadline: Instant::now(),
            timer: None,
            woken: None,
        }
    }

    /// What the handler of its requests is given of it.
    pub(crate) fn signals(&self) -> Rc<ConnectionSignals> {
        Rc::new(self.signals.clone())
    }

    /// Whether what comes is left where it is for now.
    fn is_held_back(&self) -> bool {
        self.has_read || self.awaits == Awaits::Reader || self.signals.input.is_closed()
    }

    fn begin(&mut self, awaits: Awaits, limit: Duration) {
        self.awaits = awaits;
        self.deadline = Instant::now() + limit;
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep_until(self.deadline)));
        if timer.deadline() > self.deadline {
            timer.as_mut().reset(self.deadline);
        }
    }

    /// Fails when what is awaited has not come in time; else sees to being woken then.
    fn check(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        let Some(timer) = self.timer.as_mut().filter(|_| self.awaits != Awaits::Nothing) else {
            return Ok(());
        };
        let is_known = |woken: &Waker| woken.will_wake(context.waker());
        if self.woken.as_ref().is_some_and(is_known) && !timer.is_elapsed() {
            return Ok(());
        }
        // Whatever is left of the task's budget: a timer that was not reached would wake nobody.
        while unconstrained(timer.as_mut()).poll_unpin(context).is_ready() {
            if self.deadline <= timer.deadline() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            timer.as_mut().reset(self.deadline);
        }
        self.woken = Some(context.waker().clone());
        Ok(())
    }

    /// Throws away what comes until the other side ends the connection, which is an error to the
    /// HTTP layer: it drops what it still holds, requests not begun among it.
    fn throw_away(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut bytes = [0; 4096];
        loop {
            self.check(context)?;
            let mut buffer = ReadBuf::new(&mut bytes);
            match Pin::new(&mut self.stream).poll_read(context, &mut buffer)? {
                Poll::Ready(()) if buffer.filled().is_empty() => {
                    return Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()));
                }
                Poll::Ready(()) => {}
                Poll::Pending => return Poll::Pending,
            }
        }
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.signals.admission.is_evicted(context) {
            return Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()));
        }
        if self.awaits == Awaits::End {
            return self.throw_away(context);
        }
        self.check(context)?;
        if self.is_held_back() {
            self.has_more |= self.stream.poll_read_ready(context)?.is_ready();
            return Poll::Pending;
        }
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        let has_come = buffer.filled().len() > before;
        self.has_read = has_come;
        let is_awaited = self.awaits == Awaits::Nothing
            || (self.awaits == Awaits::Answer && self.signals.upload_exemption.0.get());
        if has_come && is_awaited {
            let limit = self.stall_timeouts.answer;
            self.begin(Awaits::Answer, limit);
            self.check(context)?;
        }
        read
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.written_bytes >= TURN_BYTES {
            self.written_bytes = 0;
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        if let Poll::Ready(result) = &written {
            self.written_bytes += result.as_ref().copied().unwrap_or(0);
            self.awaits = Awaits::Nothing;
            self.signals.upload_exemption.0.set(false);
            return written;
        }
        if self.awaits != Awaits::Reader {
            let limit = self.stall_timeouts.write;
            self.begin(Awaits::Reader, limit);
        }
        self.check(context)?;
        Poll::Pending
    }

    /// The HTTP layer flushes at the end of each turn in which it has handed over everything it has
    /// to write.
    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        if self.signals.last_answer.is_given() && self.awaits == Awaits::Nothing {
            self.begin(Awaits::End, LINGER);
            self.check(context)?;
        }
        self.has_read = false;
        if self.has_more && !self.is_held_back() {
            self.has_more = false;
            context.waker().wake_by_ref();
        }
        flushed
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
