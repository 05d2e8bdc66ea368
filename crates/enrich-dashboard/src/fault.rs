//! Why a page is not shown.

use enrich_bulk::jobs::JobError;
use enrich_core::port::error::StoreError;

use crate::password::HashError;
use crate::threads::Busy;

/// Each becomes a status and a page that says what to do.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    /// No page has this path, or what it names is not this account's: the two look the same.
    #[error("There is no such page.")]
    NoSuchPage,
    /// The path exists, the method does not.
    #[error("This page cannot be asked for in this way.")]
    WrongMethod,
    /// A change that does not come from these pages.
    #[error(
        "This did not come from one of these pages, so nothing was changed. Go back, reload the \
         page and try again. If it stays so, see that the pages are opened over https (or at a \
         loopback address), and that the server's setting `public_url` is the address in the \
         browser's address bar."
    )]
    NotOurs,
    /// The request names a host that is not this server.
    #[error(
        "The address in the browser's address bar is not one that this server listens on. If it is \
         the service's address, start the server with it: `enrich serve --public-url \
         https://enrich.example`. Otherwise do not enter anything here."
    )]
    ForeignHost,
    /// The body is longer than a form.
    #[error("What was sent is longer than {limit_bytes} bytes.")]
    TooLarge {
        /// The most that is read.
        limit_bytes: usize,
    },
    /// The body did not arrive.
    #[error("What was sent did not arrive whole; try again.")]
    Broken,
    /// The body arrived more slowly than is waited for.
    #[error(
        "What was sent arrived too slowly, so nothing of it was kept. Try again over a faster \
         connection, or send the list compressed (.gz or .zst)."
    )]
    TooSlow,
    /// Long reads of this account are under way, and more wait for them.
    #[error(
        "Too much of this account is being searched, counted or downloaded at the same time. \
         Nothing was changed; try again in a moment."
    )]
    Counting,
    /// Too much is waiting.
    #[error("Too much is going on at the moment. Nothing was changed; try again in a moment.")]
    Busy,
    /// Our fault.
    #[error(
        "This failed on our side. Try again; if it fails again, tell whoever runs the service."
    )]
    Failed(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl Fault {
    /// Wraps what failed.
    pub(crate) fn failed(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Failed(source.into())
    }

    /// The status it is answered with.
    pub(crate) fn status(&self) -> u16 {
        match self {
            Self::NoSuchPage => 404,
            Self::WrongMethod => 405,
            Self::NotOurs => 403,
            Self::ForeignHost => 421,
            Self::TooLarge { .. } => 413,
            Self::Broken | Self::TooSlow => 400,
            Self::Busy | Self::Counting => 503,
            Self::Failed(_) => 500,
        }
    }

    /// What the page is headed with.
    pub(crate) fn title(&self) -> &'static str {
        match self {
            Self::NoSuchPage => "Not found",
            Self::WrongMethod => "Not possible",
            Self::NotOurs => "Refused",
            Self::ForeignHost => "Unknown address",
            Self::TooLarge { .. } => "Too large",
            Self::Broken | Self::TooSlow => "Not arrived",
            Self::Busy | Self::Counting => "Busy",
            Self::Failed(_) => "Failed",
        }
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Overloaded => Self::Busy,
            error @ StoreError::Failed(_) => Self::failed(error),
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
    /// A fault with a list, or what to say of it where it is not ours.
    pub(crate) fn of_job(error: JobError) -> Result<String, Self> {
        match error {
            JobError::NotThere => Err(Self::NoSuchPage),
            JobError::Files(_) | JobError::Folder(_) => Err(Self::failed(error)),
            error => Ok(sentence(&error.to_string())),
        }
    }
}

/// A message as a sentence of a page.
fn sentence(message: &str) -> String {
    let mut letters = message.chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    format!("{first}{}.", letters.as_str())
}
