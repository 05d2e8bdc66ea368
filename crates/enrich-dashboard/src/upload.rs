//! Writes an uploaded list from a multipart form (RFC 7578) to the list's folder, piece by piece.
//! The whole list is never in memory.

use std::io::{self, Read};
use std::sync::Arc;

use bytes::{Buf, Bytes};
use enrich_bulk::jobs::{Job, JobError};
use enrich_core::{AccountId, Timestamp};
use futures_util::StreamExt;
use futures_util::future::join;
use jiff::SignedDuration;
use multer::{Constraints, Field, Multipart, SizeLimit};
use send_wrapper::SendWrapper;
use tokio::sync::mpsc;

use crate::dashboard::Dashboard;
use crate::fault::Fault;
use crate::http::{Body, BodyFault};

/// The name of the form field with the file.
const FIELD: &str = "list";
/// Maximum number of bytes in the multipart form besides the file.
const AROUND: u64 = 64 * 1024;

/// Minimum number of bytes that must arrive in each time window ([`WINDOW`]) except the first.
const MIN_IN_WINDOW: usize = 64 * 1024;
const WINDOW: SignedDuration = SignedDuration::from_secs(30);

/// Why a list was not stored.
pub(crate) enum UploadError {
    /// A message for the user, with the HTTP status of the page that shows it.
    Message(u16, String),
    /// A fault, which is shown as an error page.
    Fault(Fault),
}

impl<E: Into<Fault>> From<E> for UploadError {
    fn from(fault: E) -> Self {
        Self::Fault(fault.into())
    }
}

impl From<multer::Error> for Fault {
    fn from(error: multer::Error) -> Self {
        match error {
            multer::Error::StreamReadFailed(source)
                if source.downcast_ref::<BodyFault>() == Some(&BodyFault::TooSlow) =>
            {
                Self::TooSlow
            }
            _ => Self::Broken,
        }
    }
}

/// Stores the list that a form contains, and returns the list's job.
pub(crate) async fn take(
    dashboard: &Dashboard,
    account: AccountId,
    content_type: Option<&str>,
    body: Body,
) -> Result<Job, UploadError> {
    let Some(_permit) = dashboard.upload_limit.take(account) else {
        let said =
            "Other files of this account are being uploaded. Wait until one of them is complete.";
        return Err(UploadError::Message(422, said.to_owned()));
    };
    let boundary = multer::parse_boundary(content_type.unwrap_or_default())?;
    let limit = dashboard.job_settings.max_upload_bytes.saturating_add(AROUND);
    let constraints = Constraints::new().size_limit(SizeLimit::new().whole_stream(limit));
    let clock = &dashboard.service.clock;
    let mut pace = Pace::from(clock.now());
    let body = body.map(move |piece| match piece {
        Ok(piece) if !pace.is_fast_enough(piece.len(), clock.now()) => Err(BodyFault::TooSlow),
        piece => piece,
    });
    // The parser requires a stream that is `Send`. The body is not `Send`, but its request stays on
    // one thread, so the wrapper is safe. The parser never has the whole list in memory, but only
    // the bytes that have arrived and were not read yet: some tens of KiB.
    let form = Multipart::with_constraints(SendWrapper::new(body), boundary, constraints);
    take_field(dashboard, account, form).await
}

/// Measures the speed of an upload. An upload that is too slow is cancelled, because it occupies a
/// permit that other uploads need.
struct Pace {
    since: Timestamp,
    bytes: usize,
    is_first: bool,
}

impl Pace {
    fn from(now: Timestamp) -> Self {
        Self { since: now, bytes: 0, is_first: true }
    }

    /// Counts the bytes of a piece that has just arrived. Returns whether the upload is fast
    /// enough. The speed in the first time window ([`WINDOW`]) is not checked.
    fn is_fast_enough(&mut self, bytes: usize, now: Timestamp) -> bool {
        if self.since.duration_until(now) >= WINDOW {
            if !self.is_first && self.bytes < MIN_IN_WINDOW {
                return false;
            }
            *self = Self { since: now, bytes: 0, is_first: false };
        }
        self.bytes += bytes;
        true
    }
}

async fn take_field(
    dashboard: &Dashboard,
    account: AccountId,
    mut form: Multipart<'_>,
) -> Result<Job, UploadError> {
    let max_bytes = dashboard.job_settings.max_upload_bytes;
    while let Some(field) = form.next_field().await.map_err(|fault| broken(fault, max_bytes))? {
        let name = field.file_name().unwrap_or_default().to_owned();
        if field.name() == Some(FIELD) && !name.is_empty() {
            return store(dashboard, account, name, field).await;
        }
    }
    Err(UploadError::Message(422, "Choose a file first.".to_owned()))
}

async fn store(
    dashboard: &Dashboard,
    account: AccountId,
    name: String,
    field: Field<'_>,
) -> Result<Job, UploadError> {
    let (sender, pieces) = mpsc::channel(1);
    let jobs = Arc::clone(&dashboard.jobs);
    let mut list = Arriving { pieces, piece: Bytes::new(), is_whole: false };
    let stored = dashboard.uploads.run(move || jobs.create(account, &name, &mut list));
    let (stored, read) = join(stored, read(field, sender)).await;
    match (stored?, read) {
        (Ok(job), _) => Ok(job),
        (Err(JobError::TooLarge(bytes)), _) => Err(too_large(bytes)),
        // The list could not be stored, because the upload ended too early. The answer to the user
        // names this cause, not the error of the store.
        (Err(_), Err(fault)) => Err(broken(fault, dashboard.job_settings.max_upload_bytes)),
        (Err(error), _) => Err(match Fault::of_job(error) {
            Ok(said) => UploadError::Message(422, said),
            Err(fault) => UploadError::Fault(fault),
        }),
    }
}

/// Converts an error of the form's parser: the form was too large, or was not read to its end.
fn broken(fault: multer::Error, max_bytes: u64) -> UploadError {
    match fault {
        multer::Error::StreamSizeExceeded { .. } => too_large(max_bytes),
        fault => Fault::from(fault).into(),
    }
}

fn too_large(max_bytes: u64) -> UploadError {
    let most = max_bytes / (1024 * 1024);
    let said = format!(
        "The file is larger than {most} MiB, the most that can be uploaded. Split it, or compress it \
         (.gz or .zst)."
    );
    UploadError::Message(413, said)
}

/// Sends the pieces of a form field to `sender`, and then `None`, which marks the end. Stops early
/// if the receiver no longer exists.
async fn read(
    mut field: Field<'_>,
    sender: mpsc::Sender<Option<Bytes>>,
) -> Result<(), multer::Error> {
    loop {
        let piece = field.chunk().await?;
        let is_last = piece.is_none();
        if sender.send(piece).await.is_err() || is_last {
            return Ok(());
        }
    }
}

/// The reader of an uploaded list, which arrives in pieces. In the channel `pieces`, `None` comes
/// after the last piece. If the channel closes before that, the upload was interrupted.
struct Arriving {
    pieces: mpsc::Receiver<Option<Bytes>>,
    piece: Bytes,
    is_whole: bool,
}

impl Read for Arriving {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while self.piece.is_empty() && !self.is_whole {
            match self.pieces.blocking_recv() {
                Some(Some(piece)) => self.piece = piece,
                Some(None) => self.is_whole = true,
                None => return Err(io::ErrorKind::UnexpectedEof.into()),
            }
        }
        let length = self.piece.len().min(into.len());
        self.piece.copy_to_slice(&mut into[..length]);
        Ok(length)
    }
}
