//! Signing in to an account page: the types for email address, password, invitation and session,
//! and [`SignIns`], the port (a trait) that a store implements.
//!
//! Other crates hash passwords, set cookies, show pages and run SQL.

mod port;
mod sign_in;

pub use port::{EmailSet, SignIns};
pub use sign_in::{ListedSession, MalformedToken, PasswordHash, Session, SessionId, SignIn, Token};
