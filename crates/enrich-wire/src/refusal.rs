//! The reasons why a request is refused. Each API version maps the reasons to a status and a body
//! in one `match`.

use enrich_core::Refusal;

/// Why a request is refused. The text is for the caller: it says what to do and contains no input.
#[derive(Debug, thiserror::Error)]
pub enum RequestRefusal {
    /// No endpoint has this path.
    #[error("there is no endpoint at this path; check it against the list of endpoints")]
    NoSuchPath,
    /// The path exists, but does not accept this method.
    #[error("this path takes {allow} requests; send one")]
    WrongMethod {
        /// The methods that the path accepts.
        allow: &'static str,
    },
    /// The body exceeds the size limit.
    #[error("the body is larger than {limit_bytes} bytes; send the fields of one look-up")]
    BodyTooLarge {
        /// The size limit of a body, in bytes.
        limit_bytes: usize,
    },
    /// The body did not arrive in time.
    #[error("the body did not arrive within {limit_seconds} seconds; send it in one go")]
    BodyTooSlow {
        /// The time limit for a body, in seconds.
        limit_seconds: u64,
    },
    /// The body is neither a JSON object nor a form.
    #[error("the body cannot be read: {0}")]
    Undecodable(String),
    /// No key was sent.
    #[error("no API key was sent; send it {place}")]
    MissingKey {
        /// Where to send the key, in words.
        place: &'static str,
    },
    /// The process is shutting down.
    #[error("the service is shutting down; nothing was charged, repeat in a second")]
    ShuttingDown,
    /// The service refuses the call.
    #[error(transparent)]
    Service(#[from] Refusal),
}

impl RequestRefusal {
    /// The number of seconds after which the caller can repeat the request, if known.
    pub fn retry_after_seconds(&self) -> Option<u32> {
        match self {
            Self::Service(refusal) => refusal.retry_after_seconds(),
            Self::ShuttingDown => Some(1),
            Self::NoSuchPath
            | Self::WrongMethod { .. }
            | Self::BodyTooLarge { .. }
            | Self::BodyTooSlow { .. }
            | Self::Undecodable(_)
            | Self::MissingKey { .. } => None,
        }
    }
}
