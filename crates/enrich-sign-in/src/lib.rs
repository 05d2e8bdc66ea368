//! Signing in to an account page: email address, password, the invitation to set it, the session,
//! and [`SignIns`], the port of the store for them.
//!
//! What is not here: the hashing of passwords, cookies, pages, and SQL.

mod port;
mod sign_in;

pub use port::{EmailSet, SignIns};
pub use sign_in::{ListedSession, MalformedToken, PasswordHash, Session, SessionId, SignIn, Token};
