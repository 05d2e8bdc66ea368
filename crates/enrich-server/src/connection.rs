//! A TCP connection that fails if it makes no progress, and that ends after its last answer.
//!
//! The HTTP layer limits the time for the head of a connection's first request, and the time
//! between two requests. It does not limit the time for the heads of later requests, or the time in
//! which a client reads its answer. So a connection could stay open forever.
//!
//! If a handler does not read the chunked body of a request, the answer has the header `Connection:
//! close`. Nevertheless, the HTTP layer reads this body to its end, however long it is. If another
//! request follows the body, the HTTP layer even answers that request, although the client expects
//! no further answer (RFC 9112, section 9.6).
//!
//! The HTTP layer does not limit pipelining (requests that a client sends before the answers to
//! earlier ones) either: it reads and parses everything that fits into its buffer, and a parsed
//! request takes many times the memory of its bytes. So the stream in this file lets the HTTP layer
//! read only once in each turn. In a turn, the HTTP layer reads requests, polls their handlers and
//! writes answers; the turn ends with a flush. While a request is being answered, or its answer is
//! being sent, the HTTP layer may not read at all.

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

/// Maximum times for which a connection may make no progress.
#[derive(Clone, Copy, Debug)]
pub struct StallTimeouts {
    /// Maximum time between the first byte of a request and the first byte of its answer. For an
    /// upload of a signed-in account owner, each received byte restarts this time.
    pub answer: Duration,
    /// Maximum time for which the client may read nothing while an answer is being sent.
    pub write: Duration,
}

/// The time for which input is read and discarded after the last answer. If the connection were
/// closed immediately, the client's system could discard the answer before the client reads it (RFC
/// 9112, section 9.6).
pub(crate) const LINGER: Duration = Duration::from_secs(1);

/// When a connection has written this number of bytes, it pauses its writes until its task is
/// polled again. More bytes without a pause would delay the other connections of the worker,
/// including health probes.
const TURN_BYTES: usize = 16 * 1024;

/// A flag that is set when a handler has returned the last answer of the connection: an answer
/// with the header `Connection: close`.
#[derive(Clone, Default)]
pub(crate) struct LastAnswer(Rc<Cell<bool>>);

impl LastAnswer {
    /// Marks that a handler has returned the last answer. Input that arrives later is not parsed
    /// as a request.
    pub(crate) fn give(&self) {
        self.0.set(true);
    }

    pub(crate) fn is_given(&self) -> bool {
        self.0.get()
    }
}

/// A flag that is set while the current request is an upload of a signed-in account owner. Such an
/// upload may take any time in total, as long as bytes keep arriving.
#[derive(Clone, Default)]
pub(crate) struct UploadExemption(Rc<Cell<bool>>);

impl UploadExemption {
    /// Marks the current request as an upload of a signed-in account owner. Until the answer
    /// begins, each byte that arrives restarts the time limit [`StallTimeouts::answer`].
    pub(crate) fn begin(&self) {
        self.0.set(true);
    }
}

/// A flag that is set when the current request was read to its end. While it is set, further input
/// stays in the system's buffer, until the request is answered.
#[derive(Clone, Default)]
pub(crate) struct InputGate(Rc<Cell<bool>>);

impl InputGate {
    /// Stops the reading of input, because the current request was read to its end.
    pub(crate) fn close(&self) {
        self.0.set(true);
    }

    /// Permits the reading of input again, because the current request was answered.
    pub(crate) fn open(&self) {
        self.0.set(false);
    }

    fn is_closed(&self) -> bool {
        self.0.get()
    }
}

/// A flag that is set when the handler of the current request needs one more poll. The HTTP layer
/// works in turns: it reads input, polls handlers and writes answers. If a turn delivers more bytes
/// to the handler, the HTTP layer polls the handler anyway. Otherwise the connection wakes its task
/// at the end of the turn, so that another turn follows.
#[derive(Clone, Default)]
pub(crate) struct PollAgain(Rc<Cell<bool>>);

impl PollAgain {
    /// Waits until the HTTP layer polls the handler of the request again. The HTTP layer works in
    /// turns: it reads input, polls handlers and writes answers. If it does not poll the handler in
    /// the current turn, the connection wakes its task, so that another turn follows.
    pub(crate) async fn next_poll(&self) {
        let mut is_first = true;
        poll_fn(|_| {
            self.0.set(is_first);
            if mem::take(&mut is_first) { Poll::Pending } else { Poll::Ready(()) }
        })
        .await;
    }
}

/// The signals that a connection shares with the handlers of its requests.
#[derive(Clone)]
pub(crate) struct ConnectionSignals {
    pub(crate) last_answer: LastAnswer,
    pub(crate) upload_exemption: UploadExemption,
    pub(crate) input: InputGate,
    pub(crate) poll_again: PollAgain,
    pub(crate) admission: Rc<Admission>,
}

/// What a connection waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Awaits {
    /// The connection waits for nothing, because every request was answered. The HTTP layer limits
    /// the time until the next request.
    Nothing,
    /// The connection waits for the first bytes of an answer, because bytes of a request have
    /// arrived.
    Answer,
    /// The connection waits for the client to read more of its answer.
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
    /// Whether input was read in the current turn: since the last flush.
    has_read: bool,
    /// The number of bytes that were written since the last pause of the writes ([`TURN_BYTES`]).
    written_bytes: usize,
    /// Whether input has arrived that was not read yet, because reading was not permitted
    /// (`is_held_back`).
    has_more: bool,
    /// The time at which the connection fails if it still waits. The field `awaits` says what it
    /// waits for. While `awaits` is `Nothing`, this time is ignored.
    deadline: Instant,
    /// The timer that wakes the connection's task. It expires at `deadline` or earlier. When
    /// `deadline` moves to a later time, the timer is not set again at once. It is set only when it
    /// has expired too early. This saves time: most requests are answered long before their
    /// deadline, and do not set the timer.
    timer: Option<Pin<Box<Sleep>>>,
    /// The waker of the task that the timer wakes; `None` until the timer is first polled.
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

    /// Returns the signals, which the connection shares with the handlers of its requests.
    pub(crate) fn signals(&self) -> Rc<ConnectionSignals> {
        Rc::new(self.signals.clone())
    }

    /// Whether the HTTP layer must not read input now: it has already read some since the last
    /// flush, an answer is being sent, or a request is being answered.
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

    /// Returns an error if the deadline has passed. Otherwise makes sure that the task is woken at
    /// the deadline.
    fn check(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        let Some(timer) = self.timer.as_mut().filter(|_| self.awaits != Awaits::Nothing) else {
            return Ok(());
        };
        let is_known = |woken: &Waker| woken.will_wake(context.waker());
        if self.woken.as_ref().is_some_and(is_known) && !timer.is_elapsed() {
            return Ok(());
        }
        // The timer is polled outside of tokio's cooperative budget. If the task had used up its
        // budget, the timer would otherwise not be polled, and would never wake the task.
        while unconstrained(timer.as_mut()).poll_unpin(context).is_ready() {
            if self.deadline <= timer.deadline() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            timer.as_mut().reset(self.deadline);
        }
        self.woken = Some(context.waker().clone());
        Ok(())
    }

    /// Reads and discards input until the client closes the connection. Then returns an error.
    /// The error makes the HTTP layer drop all requests that it has read but not yet answered.
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

    /// Flushes the stream. The HTTP layer calls this when it has written all its output, which ends
    /// its turn. If more input is waiting and may be read now, or a handler needs one more poll,
    /// wakes the task, so that another turn follows.
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
