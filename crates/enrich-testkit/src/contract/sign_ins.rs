//! Contract tests of sign-ins to the account page, which every store must pass.

use enrich_core::{AccountId, Timestamp};
use enrich_sign_in::{EmailSet, PasswordHash, Session, Token};
use enrich_text::EmailAddress;
use futures_util::future::join_all;

use super::{Harness, Ports, account_with_key, after_noon, noon};

const ADA: &str = "ada@quill.example";
const BEN: &str = "ben@quill.example";

fn address(text: &str) -> EmailAddress {
    EmailAddress::parse(text).unwrap()
}

fn token() -> Token {
    Token::generate().unwrap()
}

/// Returns a text that stands for a password hash. Stores don't interpret the hash.
fn hash(text: &str) -> PasswordHash {
    PasswordHash::new(format!("$argon2id$v=19$m=19456,t=2,p=1${text}"))
}

/// Creates an account whose owner signs in with this email address. Returns the account's id.
async fn owner(ports: &Ports, email: &str) -> AccountId {
    let (account, _) = account_with_key(ports, "Quill").await;
    let set = ports.sign_ins.set_email(account, &address(email), noon()).await.unwrap();
    assert_eq!(set, EmailSet::Set);
    account
}

async fn session_of(ports: &Ports, account: AccountId) -> Token {
    let token = token();
    ports.sign_ins.begin_session(&token, session(account)).await.unwrap();
    token
}

fn session(account: AccountId) -> Session {
    Session { account, started_at: noon(), seen_at: noon(), ends_at: after_noon(3600) }
}

async fn invitation_to(ports: &Ports, account: AccountId) -> Token {
    let token = token();
    assert!(ports.sign_ins.invite(account, &token, after_noon(60)).await.unwrap());
    token
}

async fn has_session(ports: &Ports, token: &Token) -> bool {
    ports.sign_ins.session(token).await.unwrap().is_some()
}

async fn is_invited(ports: &Ports, token: &Token, now: Timestamp) -> bool {
    ports.sign_ins.invited(token, now).await.unwrap().is_some()
}

async fn password_of(ports: &Ports, account: AccountId) -> Option<String> {
    let sign_in = ports.sign_ins.sign_in(account).await.unwrap().unwrap();
    sign_in.password.map(|password| password.expose().to_owned())
}

/// Nobody can sign in to a new account, because it has no email address.
pub async fn nobody_signs_in_until_an_address_is_given(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let (account, _) = account_with_key(&ports, "Quill").await;
    assert!(ports.sign_ins.sign_in(account).await.unwrap().is_none());
    assert!(ports.sign_ins.by_email(&address(ADA)).await.unwrap().is_none());
    assert!(!ports.sign_ins.invite(account, &token(), after_noon(60)).await.unwrap());
    assert!(!ports.sign_ins.set_password(account, hash("one"), None).await.unwrap());
    assert_eq!(ports.sign_ins.end_sessions(account, None).await.unwrap(), 0);
}

/// An account that does not exist cannot get an email address.
pub async fn an_unknown_account_gets_no_address(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let nobody = AccountId::new(noon());
    let set = ports.sign_ins.set_email(nobody, &address(ADA), noon()).await.unwrap();
    assert_eq!(set, EmailSet::NoAccount);
    assert!(ports.sign_ins.sign_in(nobody).await.unwrap().is_none());
    assert!(ports.sign_ins.by_email(&address(ADA)).await.unwrap().is_none());
    assert!(!ports.sign_ins.invite(nobody, &token(), after_noon(60)).await.unwrap());
    assert!(!ports.sign_ins.set_password(nobody, hash("one"), None).await.unwrap());
}

/// An owner is found by the account's id and by the email address. Upper and lower case in the
/// address don't matter.
pub async fn the_case_of_an_address_does_not_matter(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let account = owner(&ports, "Ada@Quill.Example").await;
    for written in [ADA, "ADA@QUILL.EXAMPLE", "Ada <ada@quill.example>"] {
        let found = ports.sign_ins.by_email(&address(written)).await.unwrap().unwrap();
        assert_eq!((found.account, found.email), (account, address(ADA)), "{written}");
    }
    let found = ports.sign_ins.sign_in(account).await.unwrap().unwrap();
    assert_eq!((found.email, found.created_at), (address(ADA), noon()));
    assert!(found.password.is_none());
    assert!(ports.sign_ins.by_email(&address(BEN)).await.unwrap().is_none());
}

/// If another account has the email address, the address is refused and nothing changes.
pub async fn an_address_of_another_account_is_taken(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let (ada, ben) = (owner(&ports, ADA).await, owner(&ports, BEN).await);
    let session = session_of(&ports, ben).await;
    let set = ports.sign_ins.set_email(ben, &address("ADA@quill.example"), noon()).await.unwrap();
    assert_eq!(set, EmailSet::Taken);
    let found = ports.sign_ins.by_email(&address(ADA)).await.unwrap().unwrap();
    assert_eq!(found.account, ada);
    assert_eq!(ports.sign_ins.sign_in(ben).await.unwrap().unwrap().email, address(BEN));
    assert!(has_session(&ports, &session).await);
    let (third, _) = account_with_key(&ports, "Ledger").await;
    let set = ports.sign_ins.set_email(third, &address(BEN), noon()).await.unwrap();
    assert_eq!(set, EmailSet::Taken);
    assert!(ports.sign_ins.sign_in(third).await.unwrap().is_none());
}

/// Setting an email address that the account already has changes nothing.
pub async fn the_same_address_again_changes_nothing(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let account = owner(&ports, ADA).await;
    ports.sign_ins.set_password(account, hash("one"), None).await.unwrap();
    let (session, invitation) =
        (session_of(&ports, account).await, invitation_to(&ports, account).await);
    let again = address("Ada@quill.example");
    let set = ports.sign_ins.set_email(account, &again, after_noon(9)).await.unwrap();
    assert_eq!(set, EmailSet::Set);
    assert_eq!(ports.sign_ins.sign_in(account).await.unwrap().unwrap().created_at, noon());
    assert_eq!(password_of(&ports, account).await.as_deref(), Some(hash("one").expose()));
    assert!(has_session(&ports, &session).await);
    assert!(is_invited(&ports, &invitation, noon()).await);
}

/// With a new email address, the password stays valid, the sessions and the invitation end, and
/// another account can use the old address.
pub async fn another_address_keeps_the_password_and_ends_the_rest(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let account = owner(&ports, ADA).await;
    ports.sign_ins.set_password(account, hash("one"), None).await.unwrap();
    let (session, invitation) =
        (session_of(&ports, account).await, invitation_to(&ports, account).await);
    let set = ports.sign_ins.set_email(account, &address(BEN), after_noon(9)).await.unwrap();
    assert_eq!(set, EmailSet::Set);
    assert!(ports.sign_ins.by_email(&address(ADA)).await.unwrap().is_none());
    let found = ports.sign_ins.by_email(&address(BEN)).await.unwrap().unwrap();
    assert_eq!((found.account, found.created_at), (account, after_noon(9)));
    assert_eq!(password_of(&ports, account).await.as_deref(), Some(hash("one").expose()));
    assert!(!has_session(&ports, &session).await);
    assert!(!is_invited(&ports, &invitation, noon()).await, "it was sent to the old address");
    let other = owner(&ports, ADA).await;
    assert_eq!(
        ports.sign_ins.by_email(&address(ADA)).await.unwrap().unwrap().account,
        other,
        "it was free again"
    );
}

/// An invitation can set the password only once.
pub async fn an_invitation_works_once(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let account = owner(&ports, ADA).await;
    let invitation = invitation_to(&ports, account).await;
    let invited = ports.sign_ins.invited(&invitation, noon()).await.unwrap().unwrap();
    assert_eq!((invited.account, invited.email), (account, address(ADA)));
    assert!(is_invited(&ports, &invitation, noon()).await, "looking does not use it up");
    let accepted = ports.sign_ins.accept(&invitation, hash("one"), noon()).await.unwrap();
    assert_eq!(accepted, Some(account));
    assert!(!is_invited(&ports, &invitation, noon()).await);
    let again = ports.sign_ins.accept(&invitation, hash("two"), noon()).await.unwrap();
    assert_eq!(again, None);
    assert_eq!(password_of(&ports, account).await.as_deref(), Some(hash("one").expose()));
}

/// If an invitation is used several times at the same time, exactly one use succeeds.
pub async fn one_of_many_uses_an_invitation(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let account = owner(&ports, ADA).await;
    let invitation = invitation_to(&ports, account).await;
    let race = (0..8).map(|n| ports.sign_ins.accept(&invitation, hash(&n.to_string()), noon()));
    let accepted: Vec<_> = join_all(race).await.into_iter().map(Result::unwrap).collect();
    assert_eq!(accepted.iter().flatten().count(), 1, "{accepted:?}");
    let winner = accepted.iter().position(Option::is_some).unwrap();
    let password = password_of(&ports, account).await;
    assert_eq!(password.as_deref(), Some(hash(&winner.to_string()).expose()));
}

/// An expired invitation, or one that never existed, is refused.
pub async fn an_invitation_ends(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let account = owner(&ports, ADA).await;
    let invitation = invitation_to(&ports, account).await;
    assert!(is_invited(&ports, &invitation, after_noon(59)).await);
    for (token, now) in [(&invitation, after_noon(60)), (&token(), noon())] {
        assert!(!is_invited(&ports, token, now).await);
        assert_eq!(ports.sign_ins.accept(token, hash("one"), now).await.unwrap(), None);
    }
    assert_eq!(password_of(&ports, account).await, None);
    let last = ports.sign_ins.accept(&invitation, hash("one"), after_noon(59)).await.unwrap();
    assert_eq!(last, Some(account));
}

/// A second invitation for the same account ends the first one.
pub async fn a_second_invitation_ends_the_first(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let (account, other) = (owner(&ports, ADA).await, owner(&ports, BEN).await);
    let (first, others) =
        (invitation_to(&ports, account).await, invitation_to(&ports, other).await);
    let second = invitation_to(&ports, account).await;
    assert!(!is_invited(&ports, &first, noon()).await);
    assert_eq!(ports.sign_ins.accept(&first, hash("one"), noon()).await.unwrap(), None);
    assert!(is_invited(&ports, &others, noon()).await, "another account's stays");
    let accepted = ports.sign_ins.accept(&second, hash("two"), noon()).await.unwrap();
    assert_eq!(accepted, Some(account));
}

/// When the owner sets the password with an invitation, all sessions of the account end.
pub async fn an_accepted_invitation_ends_the_accounts_sessions(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let (account, other) = (owner(&ports, ADA).await, owner(&ports, BEN).await);
    let (one, two) = (session_of(&ports, account).await, session_of(&ports, account).await);
    let others = session_of(&ports, other).await;
    let invitation = invitation_to(&ports, account).await;
    ports.sign_ins.accept(&invitation, hash("one"), noon()).await.unwrap().unwrap();
    assert!(!has_session(&ports, &one).await && !has_session(&ports, &two).await);
    assert!(has_session(&ports, &others).await);
    assert_eq!(password_of(&ports, other).await, None);
}

/// Setting another password ends the invitation and all sessions except the current one.
pub async fn another_password_ends_all_sessions_but_the_kept_one(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let (account, other) = (owner(&ports, ADA).await, owner(&ports, BEN).await);
    let (kept, ended) = (session_of(&ports, account).await, session_of(&ports, account).await);
    let others = session_of(&ports, other).await;
    let invitation = invitation_to(&ports, account).await;
    assert!(ports.sign_ins.set_password(account, hash("two"), Some(&kept)).await.unwrap());
    assert_eq!(password_of(&ports, account).await.as_deref(), Some(hash("two").expose()));
    assert!(has_session(&ports, &kept).await && !has_session(&ports, &ended).await);
    assert!(!is_invited(&ports, &invitation, noon()).await);
    assert!(has_session(&ports, &others).await);
    assert!(ports.sign_ins.set_password(account, hash("three"), None).await.unwrap());
    assert!(!has_session(&ports, &kept).await);
}

/// `set_password` and `end_sessions` end only sessions of the given account, even if they get the
/// session token of another account. An invitation sets only the password of its own account.
pub async fn nothing_is_reached_through_another_accounts_token(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let (account, other) = (owner(&ports, ADA).await, owner(&ports, BEN).await);
    let (own, others) = (session_of(&ports, account).await, session_of(&ports, other).await);
    let invitation = invitation_to(&ports, other).await;
    assert_eq!(ports.sign_ins.session(&others).await.unwrap().unwrap().account, other);
    assert!(ports.sign_ins.set_password(account, hash("one"), Some(&others)).await.unwrap());
    assert!(!has_session(&ports, &own).await && has_session(&ports, &others).await);
    let own = session_of(&ports, account).await;
    assert_eq!(ports.sign_ins.end_sessions(account, Some(&others)).await.unwrap(), 1);
    assert!(!has_session(&ports, &own).await && has_session(&ports, &others).await);
    let accepted = ports.sign_ins.accept(&invitation, hash("two"), noon()).await.unwrap();
    assert_eq!(accepted, Some(other));
    assert_eq!(password_of(&ports, account).await.as_deref(), Some(hash("one").expose()));
}

/// A session token is not valid as an invitation, and an invitation is not valid as a session
/// token.
pub async fn a_token_is_good_for_one_thing(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let account = owner(&ports, ADA).await;
    let (session, invitation) =
        (session_of(&ports, account).await, invitation_to(&ports, account).await);
    assert!(!is_invited(&ports, &session, noon()).await);
    assert_eq!(ports.sign_ins.accept(&session, hash("one"), noon()).await.unwrap(), None);
    assert!(!has_session(&ports, &invitation).await);
    ports.sign_ins.end_session(&invitation).await.unwrap();
    assert!(is_invited(&ports, &invitation, noon()).await);
}

/// A session is found by its token, with the values with which it began. An unknown token has no
/// session.
pub async fn a_session_is_found_by_its_token(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let account = owner(&ports, ADA).await;
    let token = session_of(&ports, account).await;
    assert_eq!(ports.sign_ins.session(&token).await.unwrap(), Some(session(account)));
    assert!(!has_session(&ports, &self::token()).await);
}

/// If an account has more sessions than the limit, its oldest sessions end. Other accounts keep
/// theirs.
pub async fn an_account_has_so_many_sessions_and_the_oldest_end(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let (account, other) = (owner(&ports, ADA).await, owner(&ports, BEN).await);
    let of_other = session_of(&ports, other).await;
    let most = Session::MAX_PER_ACCOUNT;
    let mut tokens = Vec::new();
    for second in 0..most as i64 + 3 {
        let (token, at) = (token(), after_noon(second));
        let session = Session { started_at: at, seen_at: at, ..session(account) };
        ports.sign_ins.begin_session(&token, session).await.unwrap();
        tokens.push(token);
    }
    for (number, token) in tokens.iter().enumerate() {
        assert_eq!(has_session(&ports, token).await, number >= 3, "{number}");
    }
    assert!(has_session(&ports, &of_other).await);
    // The account has the maximum number of sessions, so a new session ends an old one. The clock
    // was set back, so the new session seems to be the oldest. It must not end itself.
    let last = session_of(&ports, account).await;
    assert!(has_session(&ports, &last).await);
    assert_eq!(ports.sign_ins.sessions(account, None).await.unwrap().len(), most);
}

/// The sessions of an account are listed newest first, and the current one is marked. An account
/// can end each of its own sessions by id, but no session of another account.
pub async fn sessions_are_listed_and_end_by_their_id(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let (account, other) = (owner(&ports, ADA).await, owner(&ports, BEN).await);
    let first = session_of(&ports, account).await;
    let second = token();
    let later = Session { started_at: after_noon(60), ..session(account) };
    ports.sign_ins.begin_session(&second, later).await.unwrap();
    let of_other = session_of(&ports, other).await;
    let listed = ports.sign_ins.sessions(account, Some(&first)).await.unwrap();
    let seen: Vec<_> = listed.iter().map(|one| (one.session, one.is_current)).collect();
    assert_eq!(seen, [(later, false), (session(account), true)]);
    assert!(!ports.sign_ins.end_session_of(other, listed[0].id).await.unwrap());
    assert!(has_session(&ports, &second).await);
    assert!(ports.sign_ins.end_session_of(account, listed[0].id).await.unwrap());
    assert!(!ports.sign_ins.end_session_of(account, listed[0].id).await.unwrap());
    assert!(!has_session(&ports, &second).await);
    assert!(has_session(&ports, &first).await && has_session(&ports, &of_other).await);
}

/// The time of a session's last use is stored and never moves back. An ended session stays ended,
/// even if it is used.
pub async fn a_session_in_use_is_noted(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let account = owner(&ports, ADA).await;
    let (used, idle) = (session_of(&ports, account).await, session_of(&ports, account).await);
    ports.sign_ins.touch_session(&used, after_noon(60)).await.unwrap();
    ports.sign_ins.touch_session(&used, after_noon(30)).await.unwrap();
    let seen = Session { seen_at: after_noon(60), ..session(account) };
    assert_eq!(ports.sign_ins.session(&used).await.unwrap(), Some(seen));
    assert_eq!(ports.sign_ins.session(&idle).await.unwrap(), Some(session(account)));
    ports.sign_ins.end_session(&used).await.unwrap();
    ports.sign_ins.touch_session(&used, after_noon(90)).await.unwrap();
    assert!(!has_session(&ports, &used).await);
}

/// Ending a session ends only this session. Ending an unknown session succeeds.
pub async fn an_ended_session_is_gone(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let account = owner(&ports, ADA).await;
    let (one, other) = (session_of(&ports, account).await, session_of(&ports, account).await);
    ports.sign_ins.end_session(&one).await.unwrap();
    assert!(!has_session(&ports, &one).await && has_session(&ports, &other).await);
    ports.sign_ins.end_session(&one).await.unwrap();
    ports.sign_ins.end_session(&token()).await.unwrap();
}

/// `end_sessions` ends all sessions of an account except the given one, and returns how many it has
/// ended.
pub async fn all_sessions_end_but_the_kept_one(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let (account, other) = (owner(&ports, ADA).await, owner(&ports, BEN).await);
    let kept = session_of(&ports, account).await;
    let (one, two) = (session_of(&ports, account).await, session_of(&ports, account).await);
    let others = session_of(&ports, other).await;
    assert_eq!(ports.sign_ins.end_sessions(account, Some(&kept)).await.unwrap(), 2);
    assert!(!has_session(&ports, &one).await && !has_session(&ports, &two).await);
    assert!(has_session(&ports, &kept).await && has_session(&ports, &others).await);
    assert_eq!(ports.sign_ins.end_sessions(account, None).await.unwrap(), 1);
    assert_eq!(ports.sign_ins.end_sessions(account, None).await.unwrap(), 0);
    assert!(has_session(&ports, &others).await);
}

/// `settle_ends` ends expired invitations and sessions for good: they stay ended when the clock is
/// set back. Other methods must not do this, because the clock may be wrong when they are called.
/// For example, an expired invitation that was read is valid again when the clock is set back.
/// Beginning a session ends no expired session for good.
pub async fn what_ended_for_good_stays_ended_when_the_clock_is_set_back(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let (account, other) = (owner(&ports, ADA).await, owner(&ports, BEN).await);
    let (looked_at, settled) =
        (invitation_to(&ports, account).await, invitation_to(&ports, other).await);
    let (early, late) = (session_of(&ports, account).await, token());
    let longer = Session { ends_at: after_noon(7_200), ..session(account) };
    ports.sign_ins.begin_session(&late, longer).await.unwrap();
    assert_eq!(ports.sign_ins.settle_ends(after_noon(59)).await.unwrap(), 0);
    assert!(!is_invited(&ports, &looked_at, after_noon(60)).await);
    assert!(is_invited(&ports, &looked_at, noon()).await, "it was not made final");
    let much_later = Session { started_at: after_noon(9_000), ..session(other) };
    let much_later = Session { ends_at: after_noon(10_000), ..much_later };
    ports.sign_ins.begin_session(&token(), much_later).await.unwrap();
    assert!(has_session(&ports, &early).await && has_session(&ports, &late).await);
    ports.sign_ins.settle_ends(after_noon(3_600)).await.unwrap();
    assert!(!is_invited(&ports, &looked_at, noon()).await);
    assert!(!is_invited(&ports, &settled, noon()).await);
    assert!(!has_session(&ports, &early).await && has_session(&ports, &late).await);
    assert_eq!(ports.sign_ins.settle_ends(after_noon(3_600)).await.unwrap(), 0);
}

/// Email addresses, passwords, invitations and sessions survive a restart.
pub async fn who_is_signed_in_stays_so_over_a_restart(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let account = owner(&ports, ADA).await;
    ports.sign_ins.set_password(account, hash("one"), None).await.unwrap();
    let (token, ended) = (session_of(&ports, account).await, session_of(&ports, account).await);
    let invitation = invitation_to(&ports, account).await;
    ports.sign_ins.touch_session(&token, after_noon(60)).await.unwrap();
    ports.sign_ins.end_session(&ended).await.unwrap();
    let ports = harness.reopen(ports).await;
    let found = ports.sign_ins.by_email(&address(ADA)).await.unwrap().unwrap();
    assert_eq!((found.account, found.email), (account, address(ADA)));
    assert_eq!(password_of(&ports, account).await.as_deref(), Some(hash("one").expose()));
    let seen = Session { seen_at: after_noon(60), ..session(account) };
    assert_eq!(ports.sign_ins.session(&token).await.unwrap(), Some(seen));
    assert!(!has_session(&ports, &ended).await);
    assert!(is_invited(&ports, &invitation, noon()).await);
}

/// Defines one `#[test]` for each function of this contract. The test calls the function with
/// `$harness`, and waits for its end with `$run`.
#[macro_export]
macro_rules! sign_ins_contract {
    ($harness:expr, $run:path) => {
        $crate::contract_tests!($harness, $run, sign_ins: [
            nobody_signs_in_until_an_address_is_given,
            an_unknown_account_gets_no_address,
            the_case_of_an_address_does_not_matter,
            an_address_of_another_account_is_taken,
            the_same_address_again_changes_nothing,
            another_address_keeps_the_password_and_ends_the_rest,
            an_invitation_works_once,
            one_of_many_uses_an_invitation,
            an_invitation_ends,
            a_second_invitation_ends_the_first,
            an_accepted_invitation_ends_the_accounts_sessions,
            another_password_ends_all_sessions_but_the_kept_one,
            nothing_is_reached_through_another_accounts_token,
            a_token_is_good_for_one_thing,
            a_session_is_found_by_its_token,
            an_account_has_so_many_sessions_and_the_oldest_end,
            sessions_are_listed_and_end_by_their_id,
            a_session_in_use_is_noted,
            an_ended_session_is_gone,
            all_sessions_end_but_the_kept_one,
            what_ended_for_good_stays_ended_when_the_clock_is_set_back,
            who_is_signed_in_stays_so_over_a_restart,
        ]);
    };
}
