//! Tests of commands that invite an account's owner or sign the owner out.

use enrich_core::{AccountId, Clock, Timestamp};
use enrich_sign_in::{PasswordHash, Session, SignIns, Token};
use enrich_store::{Store, SystemClock};
use pollster::block_on;
use serde_json::{Value, json};

use crate::fixture::{Fixture, text};

const NOBODY: &str = "019a3c5e-7b1d-7c2a-9f00-5d1e8a4b6c70";
const ADA: &str = "ada@quill.example";

/// Creates an account and invites its owner.
fn invited(fixture: &Fixture, email: &str) -> Value {
    fixture.json(&["account", "create", "Quill Ltd", "--email", email])
}

/// Returns the token of an invitation's link; fails if the link doesn't begin with `base`.
fn token(made: &Value, base: &str) -> Token {
    let link = text(&made["invitation"]);
    let token = link.strip_prefix(&format!("{base}/account/invitation/"));
    assert!(token.is_some(), "{link}");
    Token::parse(token.unwrap()).unwrap()
}

fn is_good(store: &Store, token: &Token, now: Timestamp) -> bool {
    block_on(store.sign_ins.invited(token, now)).unwrap().is_some()
}

/// Sets a password through the invitation, and begins a session of one hour.
fn sign_in(store: &Store, invitation: &Token, account: AccountId) -> Token {
    let now = SystemClock.now();
    let password = PasswordHash::new("$argon2id$not-a-hash");
    let accepted = block_on(store.sign_ins.accept(invitation, password, now)).unwrap();
    assert_eq!(accepted, Some(account));
    begin(store, account)
}

fn begin(store: &Store, account: AccountId) -> Token {
    let (now, token) = (SystemClock.now(), Token::generate().unwrap());
    let ends_at = hours_after(now, 1);
    let session = Session { account, started_at: now, seen_at: now, ends_at };
    block_on(store.sign_ins.begin_session(&token, session)).unwrap();
    token
}

fn hours_after(now: Timestamp, hours: i64) -> Timestamp {
    Timestamp::from_second(now.as_second() + hours * 3600).unwrap()
}

#[test]
fn an_owner_is_invited_with_the_account() {
    let fixture = Fixture::new();
    let made = invited(&fixture, "Ada@Quill.example");
    assert_eq!(made["email"], ADA);
    let names: Vec<&String> = made.as_object().unwrap().keys().collect();
    assert_eq!(names, ["account", "key", "balance", "email", "invitation", "invitation_until"]);
    let (store, token) = (fixture.store(), token(&made, "http://127.0.0.1:8080"));
    let invited = block_on(store.sign_ins.invited(&token, SystemClock.now())).unwrap().unwrap();
    assert_eq!(invited.account.to_string(), text(&made["account"]));
    let week = 7 * 24;
    assert!(is_good(&store, &token, hours_after(SystemClock.now(), week - 1)));
    assert!(!is_good(&store, &token, hours_after(SystemClock.now(), week + 1)));

    let said = fixture.run(&["account", "create", "Penn & Co", "--email", "ben@penn.example"]);
    assert_eq!(said.status, 0, "{said:?}");
    let names: Vec<&str> = said.out.lines().map(|line| line.split("  ").next().unwrap()).collect();
    assert_eq!(names, ["account", "key", "balance", "email", "invitation", "good until"]);
}

#[test]
fn a_running_server_sees_an_invitation_and_its_end_at_once() {
    let fixture = Fixture::new();
    let made = invited(&fixture, ADA);
    let (store, account) = (fixture.store(), text(&made["account"]));
    let first = token(&made, "http://127.0.0.1:8080");
    assert!(is_good(&store, &first, SystemClock.now()));
    let again = fixture.json(&["account", "invite", &account]);
    assert_eq!((&again["account"], &again["email"]), (&made["account"], &json!(ADA)));
    let second = token(&again, "http://127.0.0.1:8080");
    assert!(!is_good(&store, &first, SystemClock.now()));
    assert!(is_good(&store, &second, SystemClock.now()));
    let said = fixture.run(&["account", "invite", &account]);
    assert_eq!(said.status, 0, "{said:?}");
    assert!(said.out.contains("\ninvitation  http://127.0.0.1:8080/account/invitation/"));
    assert!(!is_good(&store, &second, SystemClock.now()));
}

#[test]
fn the_link_begins_with_the_flag_else_the_environment_else_the_settings_file() {
    let fixture = Fixture::new();
    let account = text(&invited(&fixture, ADA)["account"]);
    fixture.file("enrich.toml", "public_url = \"https://file.quill.example/\"\n");
    fixture.file("listening.toml", "listen = \"0.0.0.0:9000\"\n");
    let link = |words: &[&str], environment: Option<&str>| {
        let words = [&["account", "invite", &account, "--json"], words].concat();
        let mut command = fixture.command(&words);
        if let Some(url) = environment {
            command.env("ENRICH_PUBLIC_URL", url);
        }
        let output = command.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        serde_json::from_slice::<Value>(&output.stdout).unwrap()
    };
    let (file, variable) = (["--config", "enrich.toml"], Some("https://variable.quill.example"));
    let both = ["--config", "enrich.toml", "--public-url", "https://flag.quill.example"];
    token(&link(&both, variable), "https://flag.quill.example");
    token(&link(&file, variable), "https://variable.quill.example");
    token(&link(&file, None), "https://file.quill.example");
    token(&link(&["--config", "listening.toml"], None), "http://127.0.0.1:9000");
}

#[test]
fn an_address_that_is_taken_makes_no_account() {
    let fixture = Fixture::new();
    let account = text(&invited(&fixture, ADA)["account"]);
    let again =
        fixture.run(&["account", "create", "Ledger & Sons", "--email", "ADA@quill.example"]);
    again.refused(1, "somebody signs in to another account with this address");
    assert!(!again.err.to_lowercase().contains("ada@"), "{again:?}");
    assert_eq!(fixture.json(&["account", "list"]).as_array().unwrap().len(), 1);
    let (other, _) = fixture.account(0);
    let taken = fixture.run(&["account", "invite", &other, "--email", ADA]);
    taken.refused(1, "somebody signs in to another account with this address");
    let own = fixture.json(&["account", "invite", &account, "--email", ADA]);
    assert_eq!(own["email"], ADA);
}

#[test]
fn an_owner_is_given_an_address_later_and_another_one() {
    let fixture = Fixture::new();
    let (account, _) = fixture.account(0);
    assert_eq!(fixture.json(&["account", "show", &account])["email"], Value::Null);
    assert!(fixture.run(&["account", "show", &account]).out.contains("\nemail    none\n"));
    let nobody = fixture.run(&["account", "invite", &account]);
    nobody.refused(1, "nobody signs in to this account yet; name the owner's address with --email");
    let made = fixture.json(&["account", "invite", &account, "--email", ADA]);
    let store = fixture.store();
    let session = sign_in(&store, &token(&made, "http://127.0.0.1:8080"), account.parse().unwrap());
    assert!(fixture.run(&["account", "list"]).out.lines().nth(1).unwrap().ends_with(ADA));
    assert!(fixture.run(&["account", "show", &account]).out.contains(&format!("email    {ADA}\n")));

    let ben = "ben@quill.example";
    fixture.json(&["account", "invite", &account, "--email", ben]);
    assert_eq!(fixture.json(&["account", "show", &account])["email"], ben);
    assert_eq!(fixture.json(&["account", "list"])[0]["email"], ben);
    assert!(block_on(store.sign_ins.session(&session)).unwrap().is_none());
    let sign_in = block_on(store.sign_ins.sign_in(account.parse().unwrap())).unwrap().unwrap();
    assert!(sign_in.password.is_some(), "the password stays");
}

#[test]
fn signing_out_ends_every_session_of_the_account_and_no_other() {
    let fixture = Fixture::new();
    let (made, others) = (invited(&fixture, ADA), invited(&fixture, "ben@penn.example"));
    let store = fixture.store();
    let id = |made: &Value| text(&made["account"]).parse::<AccountId>().unwrap();
    let base = "http://127.0.0.1:8080";
    let one = sign_in(&store, &token(&made, base), id(&made));
    let two = begin(&store, id(&made));
    let other = sign_in(&store, &token(&others, base), id(&others));
    let account = text(&made["account"]);
    let ended = fixture.json(&["account", "sign-out", &account]);
    assert_eq!(ended, json!({"account": account, "sessions_ended": 2}));
    for session in [&one, &two] {
        assert!(block_on(store.sign_ins.session(session)).unwrap().is_none());
    }
    assert!(block_on(store.sign_ins.session(&other)).unwrap().is_some());
    let again = fixture.run(&["account", "sign-out", &account]);
    assert_eq!(again.status, 0, "{again:?}");
    assert!(again.out.ends_with("sessions ended  0\n"), "{again:?}");
}

#[test]
fn what_is_typed_wrongly_changes_nothing() {
    let fixture = Fixture::new();
    let create = |words: &[&str]| fixture.run(&[&["account", "create", "Quill"], words].concat());
    create(&["--email", "quill.example"]).refused(2, "this has no `@`");
    let email = ["--email", ADA];
    let with = |words: &[&str]| create(&[&email, words].concat());
    with(&["--public-url", "enrich.quill.example"]).refused(2, "nothing behind it");
    with(&["--public-url", "http://enrich.quill.example"]).refused(2, "it begins with https://");
    with(&["--config", "nowhere.toml"]).refused(2, "nowhere.toml");
    assert!(!fixture.data().exists());
    fixture.account(0);
    for words in [
        &["account", "invite", NOBODY][..],
        &["account", "invite", NOBODY, "--email", ADA],
        &["account", "sign-out", NOBODY],
    ] {
        fixture.run(words).refused(1, &format!("there is no account {NOBODY}"));
    }
}
