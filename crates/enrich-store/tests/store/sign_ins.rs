//! Tests of sign-ins: a copy of the databases reveals no address, password or token, and other
//! processes see each change.

use std::fs;

use enrich_core::{AccountId, Timestamp};
use enrich_sign_in::{EmailSet, PasswordHash, Session, SignIns as _, Token};
use enrich_text::EmailAddress;
use pollster::block_on;

use crate::customer::{Customer, now, open};

const ADDRESS: &str = "ada@quill.example";
const HASH: &str = "$argon2id$v=19$m=19456,t=2,p=1$bm90LWEtc2FsdA$bm90LWEtaGFzaA";

/// Creates an account whose owner has an email address, a password and a session. Returns the
/// session's token.
fn signed_in() -> (Customer, Token) {
    let customer = Customer::with(1);
    assert_eq!(set_email(&customer, customer.account), EmailSet::Set);
    let sign_ins = &customer.store.sign_ins;
    let password = PasswordHash::new(HASH);
    assert!(block_on(sign_ins.set_password(customer.account, password, None)).unwrap());
    let token = Token::generate().unwrap();
    begin(&customer, &token, 0);
    (customer, token)
}

fn set_email(customer: &Customer, account: AccountId) -> EmailSet {
    block_on(customer.store.sign_ins.set_email(account, &address(), now())).unwrap()
}

fn address() -> EmailAddress {
    EmailAddress::parse(ADDRESS).unwrap()
}

fn after(seconds: i64) -> Timestamp {
    Timestamp::from_second(now().as_second() + seconds).unwrap()
}

/// Begins a session that lasts one minute. It starts `seconds` seconds after [`now`].
fn begin(customer: &Customer, token: &Token, seconds: i64) {
    let started_at = after(seconds);
    let session = Session {
        account: customer.account,
        started_at,
        seen_at: started_at,
        ends_at: after(seconds + 60),
    };
    block_on(customer.store.sign_ins.begin_session(token, session)).unwrap();
}

fn invite(customer: &Customer) -> Token {
    let token = Token::generate().unwrap();
    assert!(block_on(customer.store.sign_ins.invite(customer.account, &token, after(60))).unwrap());
    token
}

fn password_of(customer: &Customer) -> String {
    let sign_in = block_on(customer.store.sign_ins.by_email(&address())).unwrap().unwrap();
    sign_in.password.unwrap().expose().to_owned()
}

#[test]
fn addresses_passwords_and_tokens_do_not_lie_about() {
    let (customer, session) = signed_in();
    let invitation = invite(&customer);
    let mut texts_found = 0;
    for file in fs::read_dir(customer.folder.path()).unwrap() {
        let path = file.unwrap().path();
        let bytes = fs::read(&path).unwrap();
        let holds = |text: &str| bytes.windows(text.len()).any(|found| found == text.as_bytes());
        texts_found += usize::from(holds("Northwind"));
        for text in [ADDRESS, "ada@", &HASH[..16], session.expose(), invitation.expose()] {
            assert!(!holds(text), "{} holds {text}", path.display());
        }
    }
    assert!(texts_found > 0, "the search finds texts");
}

#[test]
fn a_password_does_not_open_in_another_account_s_row() {
    let (customer, _) = signed_in();
    let other = customer.another_account();
    let elsewhere = EmailAddress::parse("ben@quill.example").unwrap();
    let sign_ins = &customer.store.sign_ins;
    let set = block_on(sign_ins.set_email(other, &elsewhere, now())).unwrap();
    assert_eq!(set, EmailSet::Set);
    let moved = customer.file().execute(
        "UPDATE sign_in SET (password, password_secret) = (SELECT password, password_secret
             FROM sign_in WHERE account = ?1) WHERE account = ?2",
        (customer.account.0.as_bytes(), other.0.as_bytes()),
    );
    assert_eq!(moved.unwrap(), 1);
    assert!(block_on(sign_ins.sign_in(other)).is_err());
    assert!(block_on(sign_ins.by_email(&elsewhere)).is_err());
    assert_eq!(password_of(&customer), HASH);
}

#[test]
fn what_older_secrets_made_still_signs_in() {
    let (mut customer, session) = signed_in();
    let invitation = invite(&customer);
    let path = customer.folder.path().join("secret.key");
    let second = "2 00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\n";
    fs::write(&path, [fs::read(&path).unwrap(), second.into()].concat()).unwrap();
    customer.store = open(customer.folder.path());
    assert_eq!(password_of(&customer), HASH);
    let other = customer.another_account();
    assert_eq!(set_email(&customer, other), EmailSet::Taken, "also by the hash of another secret");
    assert_eq!(set_email(&customer, customer.account), EmailSet::Set);
    let sign_ins = &customer.store.sign_ins;
    block_on(sign_ins.touch_session(&session, after(60))).unwrap();
    assert_eq!(block_on(sign_ins.session(&session)).unwrap().unwrap().seen_at, after(60));
    assert_eq!(block_on(sign_ins.end_sessions(customer.account, Some(&session))).unwrap(), 0);
    let set = block_on(sign_ins.accept(&invitation, PasswordHash::new("$another"), now()));
    assert_eq!(set.unwrap(), Some(customer.account));
    assert_eq!(password_of(&customer), "$another");
    assert!(block_on(sign_ins.session(&session)).unwrap().is_none());
    let made_with = "SELECT secret, password_secret FROM sign_in";
    let made_with: (u32, u32) =
        customer.file().query_row(made_with, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    assert_eq!(made_with, (1, 2));
}

#[test]
fn another_process_s_changes_are_seen_at_once() {
    let (customer, session) = signed_in();
    let (server, command_line) = (&customer.store.sign_ins, open(customer.folder.path()));
    let command_line = &command_line.sign_ins;
    assert!(block_on(server.session(&session)).unwrap().is_some());
    let invitation = Token::generate().unwrap();
    assert!(block_on(server.invited(&invitation, now())).unwrap().is_none());
    assert!(block_on(command_line.invite(customer.account, &invitation, after(60))).unwrap());
    assert!(block_on(server.invited(&invitation, now())).unwrap().is_some());
    assert_eq!(block_on(command_line.end_sessions(customer.account, None)).unwrap(), 1);
    assert!(block_on(server.session(&session)).unwrap().is_none());
}

#[test]
fn a_session_of_an_account_that_nobody_signs_in_to_is_refused() {
    let customer = Customer::with(1);
    let session =
        Session { account: customer.account, started_at: now(), seen_at: now(), ends_at: after(9) };
    let token = Token::generate().unwrap();
    assert!(block_on(customer.store.sign_ins.begin_session(&token, session)).is_err());
    assert!(block_on(customer.store.sign_ins.session(&token)).unwrap().is_none());
}
