//! The reasons why a page cannot be shown.

use enrich_bulk::jobs::JobError;
use enrich_core::port::error::StoreError;

use crate::password::HashError;
use crate::threads::Busy;

/// Why a page cannot be shown. Each variant has an HTTP status and a message that tells the user
/// what to do.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    /// The path does not exist, or belongs to another account. The answer is the same in both
    /// cases, so that nobody learns what other accounts have.
    #[error("This page does not exist.")]
    NoSuchPage,
    /// The path does not accept this method.
    #[error("This page does not accept this kind of request.")]
    WrongMethod,
    /// A request for a change did not come from one of our pages, so another site may have forged
    /// it.
    #[error(
        "The request did not come from one of these pages, so nothing was changed. Go back, reload \
         the page and try again. If this happens again, check that the pages are opened over https \
         (or at a loopback address), and that the server's setting `public_url` is the address in \
         the browser's address bar."
    )]
    NotOurs,
    /// The header `Host` of the request does not name this server.
    #[error(
        "The address in the browser's address bar is not one that this server listens on. If it is \
         the service's address, start the server with it: `enrich serve --public-url \
         https://enrich.example`. Otherwise do not enter anything here."
    )]
    ForeignHost,
    /// The body is longer than a form may be.
    #[error("The form is larger than {limit_bytes} bytes.")]
    TooLarge {
        /// The maximum length of the form, in bytes.
        limit_bytes: usize,
    },
    /// The body did not arrive completely.
    #[error("The connection was interrupted before everything was received. Try again.")]
    Broken,
    /// The body arrived too slowly.
    #[error(
        "The upload was too slow and was cancelled; nothing was stored. Try again over a faster \
         connection, or compress the list (.gz or .zst)."
    )]
    TooSlow,
    /// The account has too many reads (such as searches and counts) that run or wait, or too many
    /// downloads. Other accounts are not affected.
    #[error(
        "Too many searches, counts or downloads of this account are running. Nothing was changed; \
         try again in a moment."
    )]
    Counting,
    /// A store is overloaded, too much slow work (such as hashing passwords) is waiting, or slow
    /// work has panicked.
    #[error("The server is busy. Nothing was changed; try again in a moment.")]
    Busy,
    /// The store cannot be used for now. The cause is logged and not shown.
    #[error(
        "The server cannot reach its data at the moment. Nothing was changed; try again in a moment."
    )]
    Unavailable(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The server failed. The cause is logged and not shown.
    #[error(
        "Something went wrong on the server. Try again; if it happens again, tell the service's \
         operator."
    )]
    Failed(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl Fault {
    /// Wraps the cause of a server failure.
    pub(crate) fn failed(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Failed(source.into())
    }

    /// Returns the HTTP status and the title of the error page.
    pub(crate) fn status_and_title(&self) -> (u16, &'static str) {
        match self {
            Self::NoSuchPage => (404, "Not found"),
            Self::WrongMethod => (405, "Not allowed"),
            Self::NotOurs => (403, "Refused"),
            Self::ForeignHost => (421, "Unknown address"),
            Self::TooLarge { .. } => (413, "Too large"),
            Self::Broken | Self::TooSlow => (400, "Upload incomplete"),
            Self::Busy | Self::Counting => (503, "Busy"),
            Self::Unavailable(_) => (503, "Not available"),
            Self::Failed(_) => (500, "Server error"),
        }
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Overloaded => Self::Busy,
            StoreError::Unavailable(source) => Self::Unavailable(source),
            error @ (StoreError::Failed(_) | StoreError::Unknown(_)) => Self::failed(error),
        }
    }
}

impl From<HashError> for Fault {
    fn from(error: HashError) -> Self {
        match error {
            HashError::Busy(_) => Self::Busy,
            error @ HashError::Failed(_) => Self::failed(error),
        }
    }
}

impl From<Busy> for Fault {
    fn from(_: Busy) -> Self {
        Self::Busy
    }
}

impl Fault {
    /// Converts an error of an uploaded list. If the user can correct the error, returns a message
    /// for the user; otherwise returns a fault.
    pub(crate) fn of_job(error: JobError) -> Result<String, Self> {
        match error {
            JobError::NotThere => Err(Self::NoSuchPage),
            JobError::Records(error) => Err(error.into()),
            JobError::Files(_) | JobError::Folder(_) => Err(Self::failed(error)),
            error => Ok(sentence(&error.to_string())),
        }
    }

    /// Converts an error that does not concern one uploaded list, but all lists of an account. The
    /// user cannot correct such an error. So this function always returns a fault, and never a
    /// message as [`Self::of_job`] does.
    pub(crate) fn of_lists(error: JobError) -> Self {
        match error {
            JobError::Records(error) => error.into(),
            error => Self::failed(error),
        }
    }
}

fn sentence(message: &str) -> String {
    let mut letters = message.chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    format!("{first}{}.", letters.as_str())
}
