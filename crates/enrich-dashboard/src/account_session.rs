//! The signed-in account of a request.

use enrich_core::Account;
use enrich_sign_in::Token;

/// An account whose owner is signed in.
pub(crate) struct AccountSession {
    pub(crate) account: Account,
    /// The session's token.
    pub(crate) token: Token,
}
