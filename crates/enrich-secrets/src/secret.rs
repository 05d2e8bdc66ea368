//! The secrets of a data folder. They are used for keyed hashes and for encryption.
//!
//! The secrets are in the file `secret.key`, not in the databases. So a copy of a database alone
//! reveals no API key, idempotency key, stored response, email address or password. The file is
//! text with one secret on each line: the secret's number and 32 bytes in hex. The last secret in
//! the file is the current one: new hashes and encrypted values are made with it. Older values were
//! made with earlier secrets. Beside each value, the number of its secret is stored.
//!
//! A secret is never used directly. For each purpose, a key is derived from the secret
//! (`blake3::derive_key`), so that a hash for one purpose is not valid for another purpose.

use std::fmt::{self, Write as _};
use std::fs;
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::Arc;

use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use secrecy::{ExposeSecret, ExposeSecretMut, SecretBox, SecretString};

use crate::private::{private_file, sync_folder};

/// The name of the file that contains the secrets. The file is in the data folder.
pub const FILE: &str = "secret.key";

const SECRET_LEN: usize = 32;
/// The length of a nonce of XChaCha20, in bytes. This is long enough for random nonces, because
/// practically no nonce occurs twice.
const NONCE_LEN: usize = 24;
/// Maximum size of the secrets' file in bytes; a larger file is refused. This is enough for 3,000
/// secrets, each with at most 10 + 1 + 64 + 1 characters.
const FILE_LIMIT_BYTES: u64 = 256 * 1024;

/// Why the secrets cannot be used. The messages contain no part of a secret.
#[derive(Debug, thiserror::Error)]
pub enum SecretError {
    /// The file cannot be read or written.
    #[error("the file cannot be read or written")]
    File(#[source] io::Error),
    /// Users other than the file's owner have rights on the file. Checked on Unix only.
    #[error("others may read it (mode {mode:03o}); run `chmod 600` on it")]
    TooOpen {
        /// The file's permission bits.
        mode: u32,
    },
    /// The file contains no secret.
    #[error("it is empty; restore it from the backup that belongs to the databases")]
    Empty,
    /// A line is not a number and 32 bytes in hex.
    #[error("line {line} is not a number and 64 hex digits; restore it from the backup")]
    Malformed {
        /// The line's number, from 1.
        line: usize,
    },
    /// Two secrets have the same number.
    #[error("line {line} has the number of an earlier line; restore it from the backup")]
    Repeated {
        /// The line's number, from 1.
        line: usize,
    },
    /// Data in a database was encrypted or hashed with a secret that is not in the file.
    #[error("secret {id} is missing, which the {database} was made with; put its line back")]
    Missing {
        /// The number of the missing secret.
        id: u32,
        /// Which database: the directory or the ledger.
        database: &'static str,
    },
    /// The file has a secret with this number, but the database was made with a different secret.
    #[error(
        "secret {id} is not the one the {database} was made with; restore the databases and \
         `secret.key` from one backup"
    )]
    Different {
        /// The number of the secret that differs.
        id: u32,
        /// Which database: the directory or the ledger.
        database: &'static str,
    },
    /// The operating system provides no random bytes.
    #[error("the system gives no randomness")]
    Randomness(#[source] getrandom::Error),
}

/// The error for data that cannot be decrypted: the data was altered, belongs to another record, or
/// was encrypted with a secret that is not loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a sealed value does not open: it was altered, or is not where it belongs")]
pub struct CannotDecrypt;

macro_rules! purposes {
    ($($(#[$doc:meta])* $purpose:ident = $context:literal,)+) => {
        /// The purpose of a keyed hash or an encryption. Each purpose has its own key.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Purpose {
            $($(#[$doc])* $purpose,)+
        }

        /// The contexts (fixed texts) from which the keys of the purposes are derived, in the order
        /// of the purposes.
        const CONTEXTS: &[&str] = &[$($context,)+];
    };
}

// Each text below is a context: the key of a purpose is derived from a secret and this text. No
// other program may use the same text. So each text begins with this program's name and a date. A
// text must never change. Otherwise, stored values that were made with it could not be read any
// more.
purposes! {
    /// Makes the hash that shows whether a secret is the one with which a database was made.
    Check = "enrich 2026-11 secret check",
    /// Makes the hash by which a store finds an API key.
    ApiKeyHash = "enrich 2026-11 api key hash",
    /// Encrypts the text of an API key, so that its owner can see it again.
    ApiKeySeal = "enrich 2026-11 api key seal",
    /// Makes the hash that links each ledger row to the previous row of the same account.
    LedgerChain = "enrich 2026-11 ledger chain",
    /// Makes the digest of all rows in the ledger's log.
    LedgerDigest = "enrich 2026-11 ledger digest",
    /// Makes the hash that protects the head of an account (its last ledger row and its balance)
    /// against changes. Heads are stored, so that a start need not read the whole ledger.
    LedgerHead = "enrich 2026-11 ledger head",
    /// Makes the hash of the ledger's seal. The seal shows whether somebody has removed or
    /// reordered rows of the ledger.
    LedgerSeal = "enrich 2026-11 ledger seal",
    /// Makes the hash of a node's seal. The seal contains the last ledger rows of the accounts that
    /// the node (a server process) has charged. It shows whether such rows were removed.
    NodeSeal = "enrich 2026-11 node seal",
    /// Makes the hash by which a store finds an idempotency record.
    IdempotencyKey = "enrich 2026-11 idempotency key hash",
    /// Makes the hash that shows whether a repeated call makes the same request.
    Asked = "enrich 2026-11 asked hash",
    /// Encrypts a stored response.
    ResponseSeal = "enrich 2026-11 kept answer",
    /// Makes the hash that protects the balance and the charge of a stored response against
    /// changes.
    ResponseTag = "enrich 2026-11 kept answer told",
    /// Decrypts stored responses of older builds, which did not use [`Self::ResponseTag`].
    OldResponseSeal = "enrich 2026-11 kept answer seal",
    /// Makes the hash by which an import or an answer recognises a suppressed value (one that must
    /// not be stored or returned).
    Suppression = "enrich 2026-11 suppression hash",
    /// Makes the hash by which an import recognises a record that was imported before.
    Origin = "enrich 2026-11 record origin hash",
    /// Makes the hash by which a store finds the owner who has an email address.
    SignInEmail = "enrich 2026-11 sign-in email hash",
    /// Encrypts an owner's email address.
    SignInEmailSeal = "enrich 2026-11 sign-in email seal",
    /// Encrypts the hash of a password.
    PasswordSeal = "enrich 2026-11 password seal",
    /// Makes the hash by which a store finds an invitation to set a password.
    InvitationToken = "enrich 2026-11 invitation token hash",
    /// Makes the hash by which a store finds the session of a signed-in owner.
    SessionToken = "enrich 2026-11 session token hash",
    /// Makes the hash of a company name that look-ups did not find. A store counts these look-ups
    /// under the hash.
    MissedName = "enrich 2026-11 missed name hash",
}

/// All secrets of a data folder: the current secret and the older ones.
#[derive(Clone, Debug)]
pub struct Secrets {
    current: Arc<Secret>,
    older: Arc<[Secret]>,
}

/// One secret. The value does not contain the secret itself, but the keys that were derived from
/// it, one for each purpose.
pub struct Secret {
    id: u32,
    keys: [SecretBox<[u8; SECRET_LEN]>; CONTEXTS.len()],
}

impl Secrets {
    /// Creates the secrets' file with one new secret. Returns an error if the file already exists.
    pub fn create(path: &Path) -> Result<Self, SecretError> {
        let mut bytes = SecretBox::new(Box::new([0_u8; SECRET_LEN]));
        getrandom::fill(bytes.expose_secret_mut()).map_err(SecretError::Randomness)?;
        let line = SecretString::from(line(1, bytes.expose_secret()));
        write_new(path, line.expose_secret().as_bytes()).map_err(SecretError::File)?;
        Self::parse(line.expose_secret())
    }

    /// Reads the secrets' file. On Unix, returns an error if users other than the owner have any
    /// rights on the file.
    pub fn load(path: &Path) -> Result<Self, SecretError> {
        let about = fs::metadata(path).map_err(SecretError::File)?;
        #[cfg(unix)]
        {
            let mode = std::os::unix::fs::PermissionsExt::mode(&about.permissions()) & 0o777;
            if mode & 0o077 != 0 {
                return Err(SecretError::TooOpen { mode });
            }
        }
        if about.len() > FILE_LIMIT_BYTES {
            return Err(SecretError::File(io::ErrorKind::FileTooLarge.into()));
        }
        let text = fs::read_to_string(path).map_err(SecretError::File)?;
        Self::parse(SecretString::from(text).expose_secret())
    }

    fn parse(text: &str) -> Result<Self, SecretError> {
        let mut secrets: Vec<Secret> = Vec::new();
        for (index, text) in text.lines().enumerate() {
            let line = index + 1;
            let secret = parse_line(text).ok_or(SecretError::Malformed { line })?;
            if secrets.iter().any(|earlier| earlier.id == secret.id) {
                return Err(SecretError::Repeated { line });
            }
            secrets.push(secret);
        }
        let current = secrets.pop().ok_or(SecretError::Empty)?;
        secrets.reverse();
        Ok(Self { current: Arc::new(current), older: secrets.into() })
    }

    /// Returns the current secret, with which new hashes and encrypted values are made.
    pub fn current(&self) -> &Secret {
        &self.current
    }

    /// Returns all secrets, beginning with the current one. A stored hash may have been made with
    /// any of them.
    pub fn newest_first(&self) -> impl Iterator<Item = &Secret> {
        std::iter::once(&*self.current).chain(self.older.iter())
    }

    /// Returns the secret with this number; `None` if the file has no such secret.
    pub fn with_id(&self, id: u32) -> Option<&Secret> {
        self.newest_first().find(|secret| secret.id == id)
    }
}

impl Secret {
    fn derive(id: u32, bytes: &[u8; SECRET_LEN]) -> Self {
        let key = |at: usize| SecretBox::new(Box::new(blake3::derive_key(CONTEXTS[at], bytes)));
        Self { id, keys: std::array::from_fn(key) }
    }

    /// Returns the number of the secret, which is stored beside every value made with it.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// Returns the keyed hash of an empty text. A database stores this hash. At the next start, the
    /// hash shows whether the secret is the one with which the database was made.
    pub fn check_hash(&self) -> [u8; 32] {
        self.hash(Purpose::Check, &[])
    }

    /// Returns the keyed hash of `parts`. The length of each part is hashed too, so that different
    /// lists of parts have different hashes.
    pub fn hash(&self, purpose: Purpose, parts: &[&[u8]]) -> [u8; 32] {
        let length = parts.iter().map(|part| part.len() + 8).sum();
        let mut bytes = Vec::with_capacity(length);
        for part in parts {
            bytes.extend_from_slice(&(part.len() as u64).to_le_bytes());
            bytes.extend_from_slice(part);
        }
        self.hash_bytes(purpose, &bytes)
    }

    /// Returns the keyed hash of `bytes`. If the caller joins several parts, the bytes must show
    /// where each part ends. Otherwise different parts could have the same hash: `ab` and `c`, for
    /// example, and `a` and `bc`.
    ///
    /// The bytes are one slice, because a hasher for several slices is slow to create. Creating it
    /// would take longer than hashing a ledger row.
    pub fn hash_bytes(&self, purpose: Purpose, bytes: &[u8]) -> [u8; 32] {
        *blake3::keyed_hash(self.key(purpose), bytes).as_bytes()
    }

    /// Encrypts `plain`. `belongs_to` identifies the record to which the text belongs, for example
    /// by its id. The same `belongs_to` is needed to decrypt the result. The result is the nonce,
    /// then the ciphertext with its authentication tag (XChaCha20-Poly1305).
    pub fn seal(
        &self,
        purpose: Purpose,
        belongs_to: &[u8],
        plain: &[u8],
    ) -> Result<Vec<u8>, SealError> {
        let mut nonce = [0_u8; NONCE_LEN];
        getrandom::fill(&mut nonce).map_err(SealError::Randomness)?;
        let payload = Payload { msg: plain, aad: belongs_to };
        let sealed = self.cipher(purpose).encrypt(&XNonce::from(nonce), payload);
        let sealed = sealed.map_err(|_| SealError::TooLong)?;
        Ok([&nonce[..], &sealed].concat())
    }

    /// Decrypts bytes that [`Self::seal`] has returned. `purpose` and `belongs_to` must be the
    /// same as in the call of [`Self::seal`].
    pub fn open(
        &self,
        purpose: Purpose,
        belongs_to: &[u8],
        sealed: &[u8],
    ) -> Result<Vec<u8>, CannotDecrypt> {
        let (nonce, text) = sealed.split_first_chunk::<NONCE_LEN>().ok_or(CannotDecrypt)?;
        let payload = Payload { msg: text, aad: belongs_to };
        self.cipher(purpose).decrypt(&XNonce::from(*nonce), payload).map_err(|_| CannotDecrypt)
    }

    fn cipher(&self, purpose: Purpose) -> XChaCha20Poly1305 {
        XChaCha20Poly1305::new(self.key(purpose).into())
    }

    fn key(&self, purpose: Purpose) -> &[u8; SECRET_LEN] {
        self.keys[purpose as usize].expose_secret()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Secret").field("id", &self.id).finish_non_exhaustive()
    }
}

/// Why an encryption failed.
#[derive(Debug, thiserror::Error)]
pub enum SealError {
    /// The operating system provides no random bytes.
    #[error("the system gives no randomness")]
    Randomness(#[source] getrandom::Error),
    /// The text is longer than the cipher allows (256 GiB).
    #[error("the value is too long to be sealed")]
    TooLong,
}

fn parse_line(text: &str) -> Option<Secret> {
    let (id, hex) = text.split_once(' ')?;
    let is_number = !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit());
    let id = is_number.then(|| id.parse::<u32>().ok()).flatten()?;
    if hex.len() != 2 * SECRET_LEN || !hex.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let mut bytes = SecretBox::new(Box::new([0_u8; SECRET_LEN]));
    for (at, byte) in bytes.expose_secret_mut().iter_mut().enumerate() {
        *byte = u8::from_str_radix(hex.get(2 * at..2 * at + 2)?, 16).ok()?;
    }
    Some(Secret::derive(id, bytes.expose_secret()))
}

fn line(id: u32, bytes: &[u8; SECRET_LEN]) -> String {
    let mut line = id.to_string();
    line.push(' ');
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = write!(line, "{byte:02x}");
    }
    line.push('\n');
    line
}

/// Writes a new file that only its owner can read. Syncs the file and its folder to disk.
fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = private_file().create_new(true).open(path)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    path.parent().map_or(Ok(()), sync_folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OTHER: &str = "2 00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\n";

    fn made() -> (tempfile::TempDir, std::path::PathBuf, Secrets) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE);
        let secrets = Secrets::create(&path).unwrap();
        (folder, path, secrets)
    }

    #[test]
    fn a_made_file_reads_back_as_the_same_secret() {
        let (_folder, path, made) = made();
        let read = Secrets::load(&path).unwrap();
        let hash = |secrets: &Secrets| secrets.current().hash(Purpose::Check, &[b"x"]);
        assert_eq!(hash(&made), hash(&read));
        assert_eq!(read.current().id(), 1);
    }

    #[test]
    fn a_file_that_is_there_is_not_written_over() {
        let (_folder, path, _) = made();
        let before = fs::read(&path).unwrap();
        assert!(Secrets::create(&path).is_err());
        assert_eq!(fs::read(&path).unwrap(), before);
    }

    #[test]
    fn the_last_secret_is_current_and_the_others_still_read() {
        let (_folder, path, made) = made();
        let sealed = made.current().seal(Purpose::OldResponseSeal, b"place", b"plain").unwrap();
        let mut file = fs::OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(OTHER.as_bytes()).unwrap();
        let both = Secrets::load(&path).unwrap();
        assert_eq!(both.current().id(), 2);
        assert_eq!(both.newest_first().map(Secret::id).collect::<Vec<_>>(), [2, 1]);
        let first = both.with_id(1).unwrap();
        assert_eq!(first.open(Purpose::OldResponseSeal, b"place", &sealed).unwrap(), b"plain");
    }

    #[test]
    fn what_is_sealed_opens_only_where_it_belongs() {
        let (_folder, _, secrets) = made();
        let secret = secrets.current();
        let sealed = secret.seal(Purpose::OldResponseSeal, b"place", b"plain").unwrap();
        assert_eq!(secret.open(Purpose::OldResponseSeal, b"place", &sealed).unwrap(), b"plain");
        assert_eq!(secret.open(Purpose::OldResponseSeal, b"other", &sealed), Err(CannotDecrypt));
        assert_eq!(secret.open(Purpose::ApiKeySeal, b"place", &sealed), Err(CannotDecrypt));
        assert_eq!(
            secret.open(Purpose::OldResponseSeal, b"place", &sealed[..20]),
            Err(CannotDecrypt)
        );
        for at in 0..sealed.len() {
            let mut altered = sealed.clone();
            altered[at] ^= 1;
            assert_eq!(
                secret.open(Purpose::OldResponseSeal, b"place", &altered),
                Err(CannotDecrypt)
            );
        }
    }

    #[test]
    fn hashes_depend_on_purpose_and_on_where_parts_end() {
        let (_folder, _, secrets) = made();
        let secret = secrets.current();
        let hash = secret.hash(Purpose::Asked, &[b"ab", b"c"]);
        assert_ne!(hash, secret.hash(Purpose::Asked, &[b"a", b"bc"]));
        assert_ne!(hash, secret.hash(Purpose::Suppression, &[b"ab", b"c"]));
    }

    #[test]
    fn a_file_that_is_not_as_it_should_be_is_refused() {
        let short = &OTHER[..OTHER.len() - 3];
        for (text, is_right) in [
            ("", matches!(Secrets::parse(""), Err(SecretError::Empty))),
            (short, matches!(Secrets::parse(short), Err(SecretError::Malformed { line: 1 }))),
            ("\n", matches!(Secrets::parse("\n"), Err(SecretError::Malformed { line: 1 }))),
            ("+1 …", matches!(Secrets::parse("+1 …"), Err(SecretError::Malformed { line: 1 }))),
        ] {
            assert!(is_right, "{text}");
        }
        let twice = [OTHER, OTHER].concat();
        assert!(matches!(Secrets::parse(&twice), Err(SecretError::Repeated { line: 2 })));
    }

    #[test]
    #[cfg(unix)]
    fn a_file_that_others_can_read_is_refused() {
        let (_folder, path, _) = made();
        let mode = |mode| std::os::unix::fs::PermissionsExt::from_mode(mode);
        assert_eq!(
            std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&path).unwrap().permissions())
                & 0o777,
            0o600
        );
        for open in [0o640, 0o604, 0o620] {
            fs::set_permissions(&path, mode(open)).unwrap();
            assert!(
                matches!(Secrets::load(&path), Err(SecretError::TooOpen { mode }) if mode == open)
            );
        }
        fs::set_permissions(&path, mode(0o400)).unwrap();
        assert!(Secrets::load(&path).is_ok());
    }

    #[test]
    fn debug_shows_nothing_of_a_secret() {
        let secrets = Secrets::parse(OTHER).unwrap();
        let shown = format!("{secrets:?}");
        assert!(!shown.contains("0011") && shown.contains("id: 2"), "{shown}");
    }
}
