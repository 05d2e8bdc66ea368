//! Why a request is refused. Each API version turns these reasons into a status and a body, in one
//! `match`.

use enrich_core::Refusal;

/// Why a request is refused. The message is for the caller and says what to do. The message repeats
/// nothing that the caller has sent, except names of unknown fields that do not look like a key.
#[derive(Debug, thiserror::Error)]
pub enum RequestRefusal {
    /// No endpoint has this path.
    #[error("there is no endpoint at this path; check it against the list of endpoints")]
    NoSuchPath,
    /// The server has this path, for example as an endpoint or a web page, but the path does not
    /// accept this method.
    #[error("this path takes {allow} requests; send one")]
    WrongMethod {
        /// The methods that the path accepts.
        allow: &'static str,
    },
    /// The body has too many bytes.
    #[error("the body is larger than {limit_bytes} bytes; send the fields of one look-up")]
    BodyTooLarge {
        /// Maximum number of bytes in a body.
        limit_bytes: usize,
    },
    /// The body did not arrive within the time limit.
    #[error("the body did not arrive within {limit_seconds} seconds; send it in one go")]
    BodyTooSlow {
        /// The time limit for a body, in seconds.
        limit_seconds: u64,
    },
    /// The body is neither a JSON object nor a form.
    #[error("the body cannot be read: {0}")]
    Undecodable(String),
    /// No API key was sent.
    #[error("no API key was sent; send it {place}")]
    MissingKey {
        /// Tells the caller where to send the key, such as "in the header `x-api-key`".
        place: &'static str,
    },
    /// The process is shutting down.
    #[error("the service is shutting down; nothing was charged, repeat in a second")]
    ShuttingDown,
    /// `enrich-core` refuses the call, for example because the API key is invalid or the credits
    /// are not enough.
    #[error(transparent)]
    Service(#[from] Refusal),
}

impl RequestRefusal {
    /// Returns after how many seconds the caller can repeat the request; `None` if this is unknown.
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
