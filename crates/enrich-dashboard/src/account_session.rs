//! Who is signed in.

use enrich_core::{Account, Token};

/// An account whose owner is signed in.
pub(crate) struct AccountSession {
    pub(crate) account: Account,
    /// The session's id.
    pub(crate) token: Token,
}
