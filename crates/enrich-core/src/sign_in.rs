//! Signing in to an account's page: an email address, a password, an invitation to set it, and the
//! session that follows.

use std::fmt;

use enrich_text::EmailAddress;
use jiff::Timestamp;
use secrecy::{ExposeSecret, SecretString};

use crate::account::AccountId;

const TOKEN_BYTES: usize = 32;
const SESSION_ID_BYTES: usize = 16;

/// What whoever holds it may do: a session's id, or an invitation to set a password.
///
/// 256 random bits, in 64 hexadecimal digits. A store keeps a keyed hash of it alone.
#[derive(Clone)]
pub struct Token(SecretString);

/// The text is no token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this token is incomplete; copy all of it")]
pub struct MalformedToken;

impl Token {
    /// Makes a token from the system's randomness.
    ///
    /// # Errors
    ///
    /// When the system has no randomness to give.
    pub fn generate() -> Result<Self, getrandom::Error> {
        let mut bytes = [0_u8; TOKEN_BYTES];
        getrandom::fill(&mut bytes)?;
        let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
        let text: String =
            digits.filter_map(|digit| char::from_digit(u32::from(digit), 16)).collect();
        Ok(Self(text.into()))
    }

    /// Reads a token as sent.
    ///
    /// # Errors
    ///
    /// [`MalformedToken`] when it is not 64 hexadecimal digits in lower case.
    pub fn parse(text: &str) -> Result<Self, MalformedToken> {
        let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        if text.len() != 2 * TOKEN_BYTES || !text.bytes().all(is_digit) {
            return Err(MalformedToken);
        }
        Ok(Self(text.into()))
    }

    /// The token's text, to send or hash; never to log.
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

/// A password as it is kept: an Argon2id hash in PHC string format, which holds its own salt and
/// parameters. A store keeps it as it is.
#[derive(Clone)]
pub struct PasswordHash(SecretString);

impl PasswordHash {
    /// A hash that was made of a password.
    pub fn new(phc: impl Into<String>) -> Self {
        Self(phc.into().into())
    }

    /// The text of the hash, to store or to check against; never to log.
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }
}

impl fmt::Debug for PasswordHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PasswordHash(…)")
    }
}

/// Who signs in to an account's page. An account has at most one; an address has at most one.
#[derive(Clone, Debug)]
pub struct SignIn {
    /// The account.
    pub account: AccountId,
    /// The address to sign in with.
    pub email: EmailAddress,
    /// The password; `None` until an invitation was used to set it.
    pub password: Option<PasswordHash>,
    /// When the address was given to the account.
    pub created_at: Timestamp,
}

/// A time in which somebody is signed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Session {
    /// Whose page is seen.
    pub account: AccountId,
    /// When it began.
    pub started_at: Timestamp,
    /// When it was last used, to within a minute.
    pub seen_at: Timestamp,
    /// When it ends at the latest, used or not.
    pub ends_at: Timestamp,
}

impl Session {
    /// The most sessions an account has at the same time.
    pub const MOST_OF_AN_ACCOUNT: usize = 20;
}

/// Names a session to its owner, and lets nobody use it: it tells nothing of the token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(pub [u8; SESSION_ID_BYTES]);

/// A session in a list of all of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListedSession {
    /// What it is named by.
    pub id: SessionId,
    /// The session.
    pub session: Session,
    /// Whether it is the one that asks for the list.
    pub is_current: bool,
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl SessionId {
    /// Reads what is shown; `None` when it is not 32 hexadecimal digits.
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
