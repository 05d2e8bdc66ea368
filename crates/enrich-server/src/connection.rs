//! A connection with stall timeouts, which ends after its last answer.
//!
//! The HTTP layer limits the time for the head of a connection's first request, and the pause
//! between requests. It does not limit the time for the heads of later requests, or the time of a
//! client that does not read its answer. Both could keep a connection open forever.
//!
//! If a handler does not read a request's chunked body, the answer has `Connection: close`. The
//! HTTP layer nevertheless reads this body to its end, whatever its length. It even answers the
//! next request, although the client expects no further answer (RFC 9112, section 9.6).
//!
//! The HTTP layer does not limit pipelining either. It reads and parses everything that fits into
//! its buffer, and a parsed request takes many times the memory of its bytes. So this stream allows
//! one read per turn, and none while a request is being answered or its answer is being sent.

use std::cell::Cell;
use std::future::poll_fn;
use std::io;
use std::mem;
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

/// How long a connection may make no progress.
#[derive(Clone, Copy, Debug)]
pub struct StallTimeouts {
    /// The most time from the first byte of a request to the first byte of its answer.
    pub answer: Duration,
    /// The most time during which the client reads nothing of an answer.
    pub write: Duration,
}

/// How long input is read and discarded after the last answer. If the connection were closed
/// immediately, the client's system could discard the answer that is still on its way (RFC 9112,
/// section 9.6).
pub(crate) const LINGER: Duration = Duration::from_secs(1);

/// The number of bytes after which a connection writes no more in one turn. More bytes would delay
/// the worker's other connections, including health probes.
const TURN_BYTES: usize = 16 * 1024;

/// A flag: whether the handler has given the connection's last answer.
#[derive(Clone, Default)]
pub(crate) struct LastAnswer(Rc<Cell<bool>>);

impl LastAnswer {
    /// Marks the last answer as given: later input is not parsed as a request.
    pub(crate) fn give(&self) {
        self.0.set(true);
    }

    pub(crate) fn is_given(&self) -> bool {
        self.0.get()
    }
}

/// A flag: whether the current request is an upload, which may take any time while it makes
/// progress.
#[derive(Clone, Default)]
pub(crate) struct UploadExemption(Rc<Cell<bool>>);

impl UploadExemption {
    /// Sets the flag: until the answer begins, each received byte restarts the stall timeout.
    pub(crate) fn begin(&self) {
        self.0.set(true);
    }
}

/// A flag: whether the current request was read to its end and is being answered. Until the request
/// is answered, further input stays in the system's buffer.
#[derive(Clone, Default)]
pub(crate) struct InputGate(Rc<Cell<bool>>);

impl InputGate {
    /// Stops the reading of input, because the request is complete.
    pub(crate) fn close(&self) {
        self.0.set(true);
    }

    /// Allows the reading of input again, because the request was answered.
    pub(crate) fn open(&self) {
        self.0.set(false);
    }

    fn is_closed(&self) -> bool {
        self.0.get()
    }
}

/// A flag: whether the current request must be polled once more, in this turn or the next.
#[derive(Clone, Default)]
pub(crate) struct PollAgain(Rc<Cell<bool>>);

impl PollAgain {
    /// Waits for the next poll of the request. The connection wakes its task only if this turn has
    /// no further poll.
    pub(crate) async fn next_poll(&self) {
        let mut is_first = true;
        poll_fn(|_| {
            self.0.set(is_first);
            if mem::take(&mut is_first) { Poll::Pending } else { Poll::Ready(()) }
        })
        .await;
    }
}

/// State shared by a connection and the handler of its requests.
#[derive(Clone)]
pub(crate) struct ConnectionSignals {
    pub(crate) last_answer: LastAnswer,
    pub(crate) upload_exemption: UploadExemption,
    pub(crate) input: InputGate,
    pub(crate) poll_again: PollAgain,
    pub(crate) admission: Rc<Admission>,
}

/// The event that the connection waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Awaits {
    /// The connection waits for nothing, because every request was answered. The HTTP layer limits
    /// the time until the next request.
    Nothing,
    /// The connection waits for bytes of an answer, after bytes of a request have arrived.
    Answer,
    /// The connection waits for the client to read more of an answer.
    Reader,
    /// The connection waits for the client to close it, because the last answer was sent.
    End,
}

/// A TCP connection whose reads and writes fail after its deadline.
pub(crate) struct Connection {
    stream: TcpStream,
    stall_timeouts: StallTimeouts,
    signals: ConnectionSignals,
    awaits: Awaits,
    /// Whether something was read in this turn.
    has_read: bool,
    /// The number of bytes written in this turn.
    written_bytes: usize,
    /// Whether unread input was left for a later turn.
    has_more: bool,
    /// The deadline of the event in `awaits`; unused while nothing is awaited.
    deadline: Instant,
    /// Wakes the connection at the deadline or earlier. The timer is reset when it expires and not
    /// for each request, because most requests are answered long before their deadline.
    timer: Option<Pin<Box<Sleep>>>,
    /// The waker registered with the timer.
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
            poll_again: PollAgain::default(),
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

    /// Returns the signals, to be shared with the handler of the connection's requests.
    pub(crate) fn signals(&self) -> Rc<ConnectionSignals> {
        Rc::new(self.signals.clone())
    }

    /// Whether input must not be read now.
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

    /// Fails if the deadline has passed. Otherwise the task will be woken at the deadline.
    fn check(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        let Some(timer) = self.timer.as_mut().filter(|_| self.awaits != Awaits::Nothing) else {
            return Ok(());
        };
        let is_known = |woken: &Waker| woken.will_wake(context.waker());
        if self.woken.as_ref().is_some_and(is_known) && !timer.is_elapsed() {
            return Ok(());
        }
        // The timer is polled outside the task's budget, because a timer that was not polled would
        // never wake the task.
        while unconstrained(timer.as_mut()).poll_unpin(context).is_ready() {
            if self.deadline <= timer.deadline() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            timer.as_mut().reset(self.deadline);
        }
        self.woken = Some(context.waker().clone());
        Ok(())
    }

    /// Discards input until the client closes the connection. Then returns an error, so that the
    /// HTTP layer drops its remaining state, including requests that are not yet handled.
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

    /// Flushes the stream and ends the turn: the HTTP layer calls this function when it has written
    /// all pending output.
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
        if self.signals.poll_again.0.take() {
            context.waker().wake_by_ref();
        }
        flushed
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
