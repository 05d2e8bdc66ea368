//! Signing in to an account page: the types for email address, password, invitation and session.

use std::fmt;

use enrich_core::AccountId;
use enrich_text::EmailAddress;
use jiff::Timestamp;
use secrecy::{ExposeSecret, SecretString};

const TOKEN_BYTES: usize = 32;
const SESSION_ID_BYTES: usize = 16;

/// A secret text that grants access: the token of a session, or of an invitation to set a password.
///
/// The token has 256 random bits, written as 64 hexadecimal digits. A store stores only a keyed
/// hash of the token.
#[derive(Clone)]
pub struct Token(SecretString);

/// The error for a text that is not a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this token is incomplete; copy all of it")]
pub struct MalformedToken;

impl Token {
    /// Generates a token from the operating system's random source.
    ///
    /// # Errors
    ///
    /// When the operating system provides no random bytes.
    pub fn generate() -> Result<Self, getrandom::Error> {
        let mut bytes = [0_u8; TOKEN_BYTES];
        getrandom::fill(&mut bytes)?;
        let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
        let text: String =
            digits.filter_map(|digit| char::from_digit(u32::from(digit), 16)).collect();
        Ok(Self(text.into()))
    }

    /// Parses a token from the text that [`expose`](Self::expose) returns.
    ///
    /// # Errors
    ///
    /// [`MalformedToken`] when the text is not 64 hexadecimal digits in lower case.
    pub fn parse(text: &str) -> Result<Self, MalformedToken> {
        let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        if text.len() != 2 * TOKEN_BYTES || !text.bytes().all(is_digit) {
            return Err(MalformedToken);
        }
        Ok(Self(text.into()))
    }

    /// Returns the text of the token, to send or hash it. The text must never be logged.
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

/// The hash of a password, made with Argon2id. Its text is in PHC string format and contains the
/// salt and the parameters. A store does not parse this text.
#[derive(Clone)]
pub struct PasswordHash(SecretString);

impl PasswordHash {
    /// Creates a `PasswordHash` from its text in PHC string format.
    pub fn new(phc: impl Into<String>) -> Self {
        Self(phc.into().into())
    }

    /// Returns the text of the hash, to store it or to check a password. The text must never be
    /// logged.
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }
}

impl fmt::Debug for PasswordHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PasswordHash(…)")
    }
}

/// How the owner of an account signs in to the account page. An account has at most one sign-in,
/// and an email address belongs to at most one account.
#[derive(Clone, Debug)]
pub struct SignIn {
    /// The account that the owner signs in to.
    pub account: AccountId,
    /// The email address with which the owner signs in.
    pub email: EmailAddress,
    /// The hash of the password; `None` until the owner has set a password with an invitation.
    pub password: Option<PasswordHash>,
    /// The time at which the email address was set.
    pub created_at: Timestamp,
}

/// The session of a signed-in owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Session {
    /// The account that the owner is signed in to.
    pub account: AccountId,
    /// The time of the sign-in.
    pub started_at: Timestamp,
    /// The time of the session's last use, accurate to a minute.
    pub seen_at: Timestamp,
    /// The time at which the session ends, even if it is in use.
    pub ends_at: Timestamp,
}

impl Session {
    /// Maximum number of sessions that an account has at the same time. When a new session exceeds
    /// this number, the oldest session ends.
    pub const MAX_PER_ACCOUNT: usize = 20;
}

/// The id of a session, which the account page shows. The id reveals nothing of the token, and
/// grants no access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(pub [u8; SESSION_ID_BYTES]);

/// One row in the list of an account's sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListedSession {
    /// The id by which the owner can end this session.
    pub id: SessionId,
    /// The account and the times of the session.
    pub session: Session,
    /// Whether the present request was made in this session.
    pub is_current: bool,
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl SessionId {
    /// Parses the id of a session from the text that pages show; `None` if the text is not 32
    /// hexadecimal digits.
    pub fn parse(text: &str) -> Option<Self> {
        let is_whole = text.len() == 2 * SESSION_ID_BYTES && text.is_ascii();
        let mut bytes = [0; SESSION_ID_BYTES];
        for (at, byte) in bytes.iter_mut().enumerate().filter(|_| is_whole) {
            *byte = u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok()?;
        }
        is_whole.then_some(Self(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_made_token_reads_back_and_two_differ() {
        let (one, other) = (Token::generate().unwrap(), Token::generate().unwrap());
        assert_eq!(Token::parse(one.expose()).unwrap().expose(), one.expose());
        assert_ne!(one.expose(), other.expose());
    }

    #[test]
    fn what_is_not_64_digits_is_no_token() {
        let token = Token::generate().unwrap();
        for text in ["", "abc", &token.expose()[1..], &token.expose().replace('0', "G")[..63]] {
            assert_eq!(Token::parse(text).unwrap_err(), MalformedToken);
        }
        assert!(Token::parse(&"A".repeat(64)).is_err());
    }

    #[test]
    fn a_session_id_reads_back_and_nothing_else_is_one() {
        let id = SessionId(std::array::from_fn(|at| (at * 17) as u8));
        assert_eq!(SessionId::parse(&id.to_string()), Some(id));
        for text in ["", "00", &"g".repeat(32), &"é".repeat(16), &"0".repeat(33)] {
            assert_eq!(SessionId::parse(text), None, "{text}");
        }
    }

    #[test]
    fn neither_shows_in_debug() {
        let token = Token::generate().unwrap();
        let shown = format!("{token:?} {:?}", PasswordHash::new("$argon2id$secret"));
        assert_eq!(shown, "Token(…) PasswordHash(…)");
    }
}
