//! Digests of values: hashes without a key, such as the SHA-256 of an email address. Suppression
//! lists contain digests. The directory stores a keyed hash of each digest. This module makes the
//! digest of a value, and the keyed hash of a digest.

use enrich_core::port::suppression_lists::DigestKind;
use enrich_secrets::{Purpose, Secret};
use enrich_store_sqlite::Statements;
use enrich_text::{EmailAddress, Phone};
use md5::Md5;
use rusqlite::Connection;
use sha1::Sha1;
use sha2::{Digest as _, Sha256};

/// The number of digits of a phone number that a list of DROP contains as a hash. They are the last
/// digits of the phone number. DROP is California's platform for requests to data brokers to delete
/// data.
const DROP_PHONE_DIGITS: usize = 10;

/// Returns the texts that a suppression list may contain as a hash if it names this email address:
/// the address with its host in ASCII (`ada@xn--bro-hoa.example`), and with its host in Unicode
/// (`ada@büro.example`). If both are equal, returns only one text.
pub(crate) fn texts_of_email(email: &EmailAddress) -> Vec<String> {
    let mut texts = vec![email.as_str().to_owned()];
    let domain = email.domain();
    let shown = domain.to_unicode();
    if shown != domain.as_str()
        && let Some(before) = email.as_str().strip_suffix(domain.as_str())
    {
        texts.push(format!("{before}{shown}"));
    }
    texts
}

/// Returns the part of a phone number that a list of DROP contains as a hash: its last
/// [`DROP_PHONE_DIGITS`] digits.
pub(crate) fn text_of_phone(phone: &Phone) -> &str {
    let digits = phone.digits();
    digits.get(digits.len().saturating_sub(DROP_PHONE_DIGITS)..).unwrap_or(digits)
}

/// Returns the kinds of digests that the loaded lists contain.
pub(crate) fn kinds_of_lists(connection: &Connection) -> rusqlite::Result<Vec<DigestKind>> {
    let kinds = "SELECT DISTINCT kind FROM suppression_list WHERE kind IS NOT NULL";
    let names: Vec<String> = connection.list(kinds, [], |row| row.get(0))?;
    let has = |kind: &DigestKind| names.iter().any(|name| name == kind.as_str());
    Ok(DigestKind::ALL.into_iter().filter(has).collect())
}

/// Whether digests of this kind are made from email addresses. Digests of all other kinds are made
/// from phone numbers.
pub(crate) fn is_of_email(kind: DigestKind) -> bool {
    match kind {
        DigestKind::DropPhone => false,
        DigestKind::DropEmail
        | DigestKind::EmailMd5
        | DigestKind::EmailSha1
        | DigestKind::EmailSha256 => true,
    }
}

/// Makes the digest of a text, such as an email address. Returns the keyed hash of this digest.
pub(crate) fn hash_of_text(secret: &Secret, kind: DigestKind, text: &str) -> [u8; 32] {
    let text = text.as_bytes();
    match kind {
        DigestKind::EmailMd5 => hash_of_digest(secret, kind, &Md5::digest(text)),
        DigestKind::EmailSha1 => hash_of_digest(secret, kind, &Sha1::digest(text)),
        DigestKind::DropEmail | DigestKind::DropPhone | DigestKind::EmailSha256 => {
            hash_of_digest(secret, kind, &Sha256::digest(text))
        }
    }
}

/// Returns the keyed hash of a digest. The table `listed` stores this hash.
pub(crate) fn hash_of_digest(secret: &Secret, kind: DigestKind, digest: &[u8]) -> [u8; 32] {
    secret.hash(Purpose::Suppression, &[kind.as_str().as_bytes(), digest])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(digest: &[u8]) -> String {
        digest.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// The test vectors in the specification of DROP. Each is a value as people write it, and the
    /// SHA-256 of its standardised form.
    #[test]
    fn the_published_vectors_of_drop_hold() {
        for (address, expected) in [
            (
                "Anna.Smith@Domain.com",
                "280d7c313fe987a207623cd3f73c044f2483432bd287ced8ba8481a4e42d9211",
            ),
            (
                "danielle.johnson12@example.com",
                "98a0e70efc05da29f1aca70ad6124dd93464c4f7cbea4ccd353b54d76787f01c",
            ),
        ] {
            let email = EmailAddress::parse(address).unwrap();
            let [text] = &texts_of_email(&email)[..] else { panic!("{address}") };
            let digest = Sha256::digest(text.as_bytes());
            assert_eq!(hex(&digest), expected, "{address}");
        }
        for (number, expected) in [
            ("+1(415)555-9317", "bc633bcb99fe8415d14840249611c33c26f2b3236061399774c71a80650e63c1"),
            ("+84(90)123 4567", "a6dcd59206eff43a27c2f3c21e65e627648439aa254a1dfbcf767363f1a69be5"),
        ] {
            let phone = Phone::parse(number).unwrap();
            let digest = Sha256::digest(text_of_phone(&phone).as_bytes());
            assert_eq!(hex(&digest), expected, "{number}");
        }
    }

    #[test]
    fn an_address_with_letters_of_other_scripts_has_two_texts() {
        let email = EmailAddress::parse("Ada@Büro.example").unwrap();
        assert_eq!(texts_of_email(&email), ["ada@xn--bro-hoa.example", "ada@büro.example"]);
    }

    #[test]
    fn a_short_number_is_hashed_as_a_whole() {
        let phone = Phone::parse("+3725123456").unwrap();
        assert_eq!(text_of_phone(&phone), "3725123456");
        let phone = Phone::parse("+29041234").unwrap();
        assert_eq!(text_of_phone(&phone), "29041234");
    }
}
