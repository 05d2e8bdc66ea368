//! Contract tests of accounts and keys, which every store must pass.

use enrich_core::port::accounts::{AccountChanged, KeyStored};
use enrich_core::port::ledger::Grant;
use enrich_core::{
    Account, AccountChange, AccountId, AccountStatus, ApiKey, Credits, KeyId, KeyLimit, NewKey,
    RateOverride, Timestamp,
};
use enrich_sign_in::{EmailSet, Session, Token};
use enrich_text::{Country, EmailAddress};
use futures_util::future::join_all;

use super::{Harness, Ports, account_with_key, after_noon, new_key, noon};

const PER_ACCOUNT: KeyLimit = KeyLimit::PER_ACCOUNT;

async fn add(ports: &Ports, key: &NewKey) -> KeyStored {
    ports.accounts.add_key(key.clone(), PER_ACCOUNT).await.unwrap()
}

async fn rotate(ports: &Ports, old: KeyId, until: Timestamp, successor: &NewKey) -> KeyStored {
    let successor = successor.clone();
    ports.accounts.rotate_key(old, until, successor, PER_ACCOUNT).await.unwrap()
}

/// An account is found by its id; accounts are listed oldest first.
pub async fn an_account_is_found_and_listed(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let (one, _) = account_with_key(&ports, "Northwind").await;
    let (other, _) = account_with_key(&ports, "Northwind").await;
    let found = ports.accounts.account(one).await.unwrap().unwrap();
    assert_eq!((found.id, found.name.as_str(), found.created_at), (one, "Northwind", noon()));
    let listed: Vec<_> = ports.accounts.accounts().await.unwrap().iter().map(|a| a.id).collect();
    let mut both = vec![one, other];
    both.sort();
    assert_eq!(listed, both, "names need not be unique");
}

/// Looking up an account id that was never used finds nothing.
pub async fn an_unknown_account_is_none(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let nobody = enrich_core::AccountId::new(noon());
    assert_eq!(ports.accounts.account(nobody).await.unwrap(), None);
    assert_eq!(ports.accounts.keys(nobody).await.unwrap(), []);
    assert_eq!(add(&ports, &new_key(nobody, "")).await, KeyStored::NotThere);
}

/// An account and its first key are stored together. If one of them cannot be stored, neither is.
pub async fn an_account_comes_with_its_first_key_or_not_at_all(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let (_, taken) = account_with_key(&ports, "Northwind").await;
    let id = enrich_core::AccountId::new(noon());
    let account = enrich_core::Account { id, ..enrich_core::Account::new("Southwind", noon()) };
    let key = enrich_core::NewKey { account: id, ..taken };
    assert!(ports.accounts.create(account, key).await.is_err(), "the key is there already");
    assert_eq!(ports.accounts.account(id).await.unwrap(), None);
}

/// An account is not created if its first key names another account. Then neither the account nor
/// the key is stored.
pub async fn a_first_key_of_another_account_is_refused(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let (other, its_key) = account_with_key(&ports, "Northwind").await;
    let nobody = AccountId::new(noon());
    for owner in [other, nobody] {
        let account = Account { id: AccountId::new(noon()), ..Account::new("Southwind", noon()) };
        let (id, key) = (account.id, new_key(owner, ""));
        assert!(ports.accounts.create(account, key.clone()).await.is_err(), "{owner}");
        assert_eq!(ports.accounts.account(id).await.unwrap(), None);
        assert_eq!(ports.accounts.find_key(&key.key).await.unwrap(), None);
    }
    let keys = ports.accounts.keys(other).await.unwrap();
    assert_eq!(keys.iter().map(|key| key.id).collect::<Vec<_>>(), [its_key.id]);
}

/// Immediately after a key is created, it is found by its full text, with all its values.
pub async fn an_issued_key_is_found_at_once(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let (account, _) = account_with_key(&ports, "Northwind").await;
    let rate = RateOverride { requests: Some(7), window_seconds: Some(30) };
    let new = enrich_core::NewKey { rate, ..new_key(account, "batch") };
    assert_eq!(add(&ports, &new).await, KeyStored::Stored);
    let found = ports.accounts.find_key(&new.key).await.unwrap().unwrap();
    assert_eq!((found.id, found.account, found.rate), (new.id, account, rate));
    assert_eq!((found.label.as_str(), found.hint.as_str()), ("batch", new.key.hint()));
    assert_eq!((found.created_at, found.expires_at), (noon(), None));
    assert_eq!(found.last_used_at, None);
    assert_eq!(ports.accounts.key(new.id).await.unwrap(), Some((*found).clone()));
}

/// A well-formed key that was never issued is not found.
pub async fn a_key_that_was_never_issued_is_not_found(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    account_with_key(&ports, "Northwind").await;
    let never = ApiKey::generate().unwrap();
    assert_eq!(ports.accounts.find_key(&never).await.unwrap(), None);
}

/// The full text of a key can be shown again, also after a restart.
pub async fn a_key_is_revealed_again(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let (account, first) = account_with_key(&ports, "Northwind").await;
    let ports = harness.reopen(ports).await;
    let shown = ports.accounts.reveal(first.id).await.unwrap().unwrap();
    assert_eq!(shown.expose(), first.key.expose());
    assert_eq!(ports.accounts.find_key(&shown).await.unwrap().unwrap().account, account);
    assert!(ports.accounts.reveal(KeyId::new(noon())).await.unwrap().is_none());
}

/// If the end of a key is set several times, the earliest end applies.
pub async fn a_key_ends_at_the_earlier_of_two_ends(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let (_, key) = account_with_key(&ports, "Northwind").await;
    assert!(ports.accounts.expire_key(key.id, after_noon(60), noon()).await.unwrap());
    assert!(ports.accounts.expire_key(key.id, after_noon(90), noon()).await.unwrap());
    let found = ports.accounts.find_key(&key.key).await.unwrap().unwrap();
    assert_eq!(found.expires_at, Some(after_noon(60)));
    assert!(found.is_active(after_noon(59)));
    assert!(!found.is_active(after_noon(60)));
    assert!(ports.accounts.expire_key(key.id, after_noon(30), noon()).await.unwrap());
    let found = ports.accounts.key(key.id).await.unwrap().unwrap();
    assert_eq!(found.expires_at, Some(after_noon(30)));
    assert!(!ports.accounts.expire_key(KeyId::new(noon()), noon(), noon()).await.unwrap());
}

/// A revoked key stays revoked when the clock is set back.
pub async fn a_revoked_key_stays_revoked_when_the_clock_is_set_back(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let (account, key) = account_with_key(&ports, "Northwind").await;
    let ahead = after_noon(7200);
    assert!(ports.accounts.expire_key(key.id, ahead, ahead).await.unwrap());
    assert!(!ports.accounts.find_key(&key.key).await.unwrap().unwrap().is_active(noon()));
    // A rotation without an overlap ends the old key immediately. The old key then stays ended,
    // like a revoked key.
    let old = new_key(account, "old");
    assert_eq!(add(&ports, &old).await, KeyStored::Stored);
    let successor = enrich_core::NewKey { created_at: ahead, ..new_key(account, "new") };
    assert_eq!(rotate(&ports, old.id, ahead, &successor).await, KeyStored::Stored);
    let ports = harness.reopen(ports).await;
    for ended in [&key, &old] {
        let found = ports.accounts.find_key(&ended.key).await.unwrap().unwrap();
        assert!(!found.is_active(noon()) && found.has_ended);
        // This end is later than the key's present end, so it changes nothing.
        ports.accounts.expire_key(ended.id, after_noon(9_000), noon()).await.unwrap();
        let found = ports.accounts.key(ended.id).await.unwrap().unwrap();
        assert!(!found.is_active(noon()));
    }
}

/// When the end of a key has passed and `settle_ends` has recorded this, the key stays ended, even
/// if the clock is set back. An end in the future is not recorded as passed.
pub async fn a_key_whose_end_was_seen_stays_ended_when_the_clock_is_set_back(
    harness: &dyn Harness,
) {
    let ports = harness.fresh().await;
    let (account, early) = account_with_key(&ports, "Northwind").await;
    let late = new_key(account, "late");
    assert_eq!(add(&ports, &late).await, KeyStored::Stored);
    ports.accounts.expire_key(early.id, after_noon(60), noon()).await.unwrap();
    ports.accounts.expire_key(late.id, after_noon(61), noon()).await.unwrap();
    assert_eq!(ports.accounts.settle_ends(after_noon(59)).await.unwrap(), 0);
    assert!(ports.accounts.find_key(&early.key).await.unwrap().unwrap().is_active(noon()));
    assert_eq!(ports.accounts.settle_ends(after_noon(60)).await.unwrap(), 1);
    let found = async |key| ports.accounts.find_key(key).await.unwrap().unwrap();
    assert!(!found(&early.key).await.is_active(noon()), "it was seen to have ended");
    assert!(found(&late.key).await.is_active(noon()));
    assert!(!found(&late.key).await.has_ended);
    assert_eq!(ports.accounts.settle_ends(after_noon(60)).await.unwrap(), 0);
}

/// A rotated key stays valid beside the key that replaces it, until the overlap is over.
pub async fn a_rotated_key_overlaps_with_its_successor(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let (account, old) = account_with_key(&ports, "Northwind").await;
    let new = new_key(account, "second");
    assert_eq!(rotate(&ports, old.id, after_noon(3600), &new).await, KeyStored::Stored);
    let found = |key: ApiKey| {
        let accounts = &ports.accounts;
        async move { accounts.find_key(&key).await.unwrap().unwrap() }
    };
    assert_eq!(found(old.key.clone()).await.expires_at, Some(after_noon(3600)));
    assert_eq!(found(new.key.clone()).await.expires_at, None);
    let labels: Vec<_> =
        ports.accounts.keys(account).await.unwrap().into_iter().map(|key| key.label).collect();
    assert_eq!(labels.len(), 2);
    assert!(labels.contains(&"first".to_owned()) && labels.contains(&"second".to_owned()));
}

/// A rotation that fails changes nothing.
pub async fn an_unknown_key_is_not_rotated(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let (account, old) = account_with_key(&ports, "Northwind").await;
    let new = new_key(account, "second");
    let unknown = KeyId::new(noon());
    assert_eq!(rotate(&ports, unknown, noon(), &new).await, KeyStored::NotThere);
    assert_eq!(ports.accounts.find_key(&new.key).await.unwrap(), None);
    // The new key has the same text as the old key. So the rotation fails, and the old key gets no
    // end.
    let taken = enrich_core::NewKey { key: old.key.clone(), ..new };
    assert!(ports.accounts.rotate_key(old.id, noon(), taken, PER_ACCOUNT).await.is_err());
    assert_eq!(ports.accounts.key(old.id).await.unwrap().unwrap().expires_at, None);
}

/// A rotation fails if the new key belongs to another account than the old key. Then nothing
/// changes.
pub async fn a_rotated_key_stays_with_its_account(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let (_, old) = account_with_key(&ports, "Northwind").await;
    let (other, _) = account_with_key(&ports, "Southwind").await;
    let new = new_key(other, "second");
    let handed_over = ports.accounts.rotate_key(old.id, noon(), new.clone(), PER_ACCOUNT).await;
    assert!(handed_over.is_err());
    assert_eq!(ports.accounts.find_key(&new.key).await.unwrap(), None);
    assert_eq!(ports.accounts.key(old.id).await.unwrap().unwrap().expires_at, None);
}

/// An account never gets more active keys than its limit, even if they are created at the same
/// time.
pub async fn keys_that_are_made_at_once_are_no_more_than_the_limit(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let (account, first) = account_with_key(&ports, "Northwind").await;
    let limit = KeyLimit { active: 10, all: 20 };
    let many = (0..100).map(|_| ports.accounts.add_key(new_key(account, ""), limit));
    let made: Vec<_> = join_all(many).await.into_iter().map(Result::unwrap).collect();
    let stored = made.iter().filter(|made| **made == KeyStored::Stored).count();
    assert_eq!(stored, 9, "the account had one");
    let refused = made.iter().filter(|made| **made == KeyStored::TooManyActive).count();
    assert_eq!(refused, 91);
    // A rotation adds an active key if the old key stays valid for a while. If the old key ends
    // immediately, the number of active keys does not change.
    let accounts = &ports.accounts;
    let rotated = accounts.rotate_key(first.id, after_noon(1), new_key(account, ""), limit).await;
    assert_eq!(rotated.unwrap(), KeyStored::TooManyActive);
    assert_eq!(accounts.key(first.id).await.unwrap().unwrap().expires_at, None, "nothing changed");
    let rotated = accounts.rotate_key(first.id, noon(), new_key(account, ""), limit).await;
    assert_eq!(rotated.unwrap(), KeyStored::Stored);
    assert_eq!(accounts.keys(account).await.unwrap().len(), 11);
    // With the limit `fewer`, the account has more active keys than allowed. It can still rotate an
    // active key if the rotation ends this key immediately, because the number of active keys stays
    // the same. It cannot rotate an ended key, because this would add an active key.
    let (fewer, active) = (KeyLimit { active: 5, all: 20 }, accounts.keys(account).await.unwrap());
    let active = active.iter().find(|key| key.expires_at.is_none()).unwrap().id;
    let rotated = accounts.rotate_key(active, noon(), new_key(account, ""), fewer).await;
    assert_eq!(rotated.unwrap(), KeyStored::Stored);
    let rotated = accounts.rotate_key(active, noon(), new_key(account, ""), fewer).await;
    assert_eq!(rotated.unwrap(), KeyStored::TooManyActive, "it was not in use any more");
    // The limit applies to each account separately, so another account can still get keys.
    let (other, _) = account_with_key(&ports, "Southwind").await;
    let added = accounts.add_key(new_key(other, ""), limit).await.unwrap();
    assert_eq!(added, KeyStored::Stored);
}

/// Ended keys don't count towards the limit of active keys, so they make room for new keys. A
/// second, higher limit applies to active and ended keys together.
pub async fn ended_keys_make_room_up_to_all_there_may_be(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let (account, first) = account_with_key(&ports, "Northwind").await;
    let limit = KeyLimit { active: 1, all: 3 };
    let mut active = first.id;
    for _ in 0..2 {
        let new = new_key(account, "");
        let add = async || ports.accounts.add_key(new.clone(), limit).await.unwrap();
        assert_eq!(add().await, KeyStored::TooManyActive);
        ports.accounts.expire_key(active, noon(), noon()).await.unwrap();
        assert_eq!(add().await, KeyStored::Stored);
        active = new.id;
    }
    ports.accounts.expire_key(active, noon(), noon()).await.unwrap();
    let added = ports.accounts.add_key(new_key(account, ""), limit).await.unwrap();
    assert_eq!(added, KeyStored::TooMany);
}

/// Keys that ended more than `KeyLimit::ENDED_DAYS` days ago don't count towards the limit of
/// active and ended keys. An operator has a higher limit, so that the operator can rotate a key
/// when the account's owner can't.
pub async fn keys_that_ended_long_ago_make_room(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let (account, first) = account_with_key(&ports, "Northwind").await;
    let limit = KeyLimit { active: 50, all: 2 };
    let made_at = |second| NewKey { created_at: after_noon(second), ..new_key(account, "") };
    let rotate = async |old, second, limit| {
        let successor = made_at(second);
        let id = successor.id;
        let stored = ports.accounts.rotate_key(old, after_noon(second), successor, limit).await;
        (stored.unwrap(), id)
    };
    let (stored, second) = rotate(first.id, 0, limit).await;
    assert_eq!(stored, KeyStored::Stored);
    let counts_until = 24 * 60 * 60 * KeyLimit::ENDED_DAYS;
    assert_eq!(rotate(second, counts_until - 1, limit).await.0, KeyStored::TooMany);
    let added = ports.accounts.add_key(made_at(counts_until - 1), limit).await.unwrap();
    assert_eq!(added, KeyStored::TooMany);
    let operator = KeyLimit { all: KeyLimit::OF_OPERATOR.all, ..limit };
    let (stored, third) = rotate(second, 1, operator).await;
    assert_eq!(stored, KeyStored::Stored);
    assert_eq!(rotate(third, counts_until, limit).await.0, KeyStored::TooMany, "two count");
    assert_eq!(rotate(third, counts_until + 1, limit).await.0, KeyStored::Stored);
    assert_eq!(ports.accounts.keys(account).await.unwrap().len(), 4, "none is deleted");
}

/// A key's own rate limit can be set and removed.
pub async fn a_key_is_given_a_limit_of_its_own(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let (_, key) = account_with_key(&ports, "Northwind").await;
    let rate = RateOverride { requests: Some(u32::MAX), window_seconds: None };
    assert!(ports.accounts.set_rate(key.id, rate).await.unwrap());
    assert_eq!(ports.accounts.find_key(&key.key).await.unwrap().unwrap().rate, rate);
    assert!(ports.accounts.set_rate(key.id, RateOverride::default()).await.unwrap());
    let found = ports.accounts.find_key(&key.key).await.unwrap().unwrap();
    assert_eq!(found.rate, RateOverride::default());
    assert!(!ports.accounts.set_rate(KeyId::new(noon()), rate).await.unwrap());
}

/// Changing a key's label changes nothing else.
pub async fn a_key_is_given_another_label(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let (account, key) = account_with_key(&ports, "Northwind").await;
    let (other, before) = (new_key(account, "batch"), ports.accounts.key(key.id).await.unwrap());
    assert_eq!(add(&ports, &other).await, KeyStored::Stored);
    assert_eq!(ports.accounts.find_key(&key.key).await.unwrap().unwrap().label, "first");
    assert!(ports.accounts.set_label(key.id, "web shop <1>").await.unwrap());
    let found = ports.accounts.find_key(&key.key).await.unwrap().unwrap();
    let label = "web shop <1>".to_owned();
    assert_eq!(Some((*found).clone()), before.map(|key| enrich_core::KeyInfo { label, ..key }));
    assert_eq!(ports.accounts.key(other.id).await.unwrap().unwrap().label, "batch");
    assert!(ports.accounts.set_label(key.id, "").await.unwrap());
    assert_eq!(ports.accounts.key(key.id).await.unwrap().unwrap().label, "");
    assert!(!ports.accounts.set_label(KeyId::new(noon()), "x").await.unwrap());
}

async fn changed(ports: &Ports, id: AccountId, change: AccountChange) -> Account {
    match ports.accounts.change(id, change).await.unwrap() {
        AccountChanged::Done(account) => account,
        refused => unreachable!("{refused:?}"),
    }
}

/// Changing an account's name and country changes nothing else.
pub async fn an_account_is_renamed_and_given_a_country(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let (id, key) = account_with_key(&ports, "Northwind").await;
    let before = ports.accounts.account(id).await.unwrap().unwrap();
    assert_eq!((&before.status, before.country), (&AccountStatus::Active, None));
    let gb = Country::from_code("GB").unwrap();
    let renamed = changed(&ports, id, AccountChange::Rename("Southwind".to_owned())).await;
    assert_eq!(renamed, Account { name: "Southwind".to_owned(), ..before });
    let moved = changed(&ports, id, AccountChange::SetCountry(Some(gb))).await;
    assert_eq!(moved, Account { country: Some(gb), ..renamed.clone() });
    assert_eq!(ports.accounts.find_key(&key.key).await.unwrap().unwrap().country, Some(gb));
    assert_eq!(ports.accounts.account(id).await.unwrap(), Some(moved));
    assert_eq!(changed(&ports, id, AccountChange::SetCountry(None)).await, renamed);
    let nobody = AccountId::new(noon());
    let refused = ports.accounts.change(nobody, AccountChange::Resume).await.unwrap();
    assert_eq!(refused, AccountChanged::NoAccount);
}

/// A suspended account's keys are refused until the account is resumed.
pub async fn a_suspended_accounts_keys_are_refused_until_it_is_resumed(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let (id, key) = account_with_key(&ports, "Northwind").await;
    let (_, other) = account_with_key(&ports, "Southwind").await;
    assert!(ports.accounts.find_key(&key.key).await.unwrap().unwrap().is_accepted(noon()));
    let reason = "an invoice is overdue".to_owned();
    let suspended = changed(&ports, id, AccountChange::Suspend { reason: reason.clone() }).await;
    assert_eq!(suspended.status, AccountStatus::Suspended { reason });
    let ports = harness.reopen(ports).await;
    let second = new_key(id, "second");
    assert_eq!(add(&ports, &second).await, KeyStored::Stored);
    for key in [&key, &second] {
        let found = ports.accounts.find_key(&key.key).await.unwrap().unwrap();
        assert_eq!(found.expires_at, None);
        for now in [Timestamp::MIN, noon(), after_noon(1_000_000), Timestamp::MAX] {
            assert!(!found.is_accepted(now), "at {now}");
        }
    }
    assert!(ports.accounts.find_key(&other.key).await.unwrap().unwrap().is_accepted(noon()));
    assert_eq!(changed(&ports, id, AccountChange::Resume).await.status, AccountStatus::Active);
    assert!(ports.accounts.find_key(&key.key).await.unwrap().unwrap().is_accepted(noon()));
}

/// A closed account stays closed: its keys and sessions end, its email address becomes free, and
/// its balance stays.
pub async fn a_closed_account_stays_closed(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let (id, key) = account_with_key(&ports, "Northwind").await;
    let (other, _) = account_with_key(&ports, "Southwind").await;
    ports.ledger.grant(Grant::new(id, 7, noon())).await.unwrap();
    let email = EmailAddress::parse("ada@quill.example").unwrap();
    assert_eq!(ports.sign_ins.set_email(id, &email, noon()).await.unwrap(), EmailSet::Set);
    let (invitation, token) = (Token::generate().unwrap(), Token::generate().unwrap());
    assert!(ports.sign_ins.invite(id, &invitation, after_noon(60)).await.unwrap());
    let (started_at, ends_at) = (noon(), after_noon(60));
    let session = Session { account: id, started_at, seen_at: noon(), ends_at };
    ports.sign_ins.begin_session(&token, session).await.unwrap();

    let closed = changed(&ports, id, AccountChange::Close { at: after_noon(5) }).await;
    assert_eq!((closed.status, closed.name.as_str()), (AccountStatus::Closed, "Northwind"));
    let found = ports.accounts.find_key(&key.key).await.unwrap().unwrap();
    assert_eq!(found.expires_at, Some(after_noon(5)));
    assert!(!found.is_accepted(noon()), "whatever the time");
    assert!(ports.sign_ins.session(&token).await.unwrap().is_none());
    assert!(ports.sign_ins.invited(&invitation, noon()).await.unwrap().is_none());
    assert!(ports.sign_ins.sign_in(id).await.unwrap().is_none());
    assert_eq!(ports.sign_ins.set_email(other, &email, noon()).await.unwrap(), EmailSet::Set);
    assert_eq!(ports.ledger.balance(id).await.unwrap(), Some(Credits(7)));
    for change in [
        AccountChange::Resume,
        AccountChange::Rename("Westwind".to_owned()),
        AccountChange::Close { at: noon() },
    ] {
        let refused = ports.accounts.change(id, change).await.unwrap();
        assert_eq!(refused, AccountChanged::Closed);
    }
    assert_eq!(ports.ledger.verify().await.unwrap().faults, [] as [String; 0]);
}

/// A key can be created with a time at which it ends.
pub async fn a_key_is_issued_with_an_end(harness: &dyn Harness) {
    let ports = harness.fresh().await;
    let (account, _) = account_with_key(&ports, "Northwind").await;
    let expires_at = Some(after_noon(60));
    let new = enrich_core::NewKey { expires_at, ..new_key(account, "short") };
    assert_eq!(add(&ports, &new).await, KeyStored::Stored);
    let found = ports.accounts.find_key(&new.key).await.unwrap().unwrap();
    assert_eq!(found.expires_at, expires_at);
    assert!(found.is_active(after_noon(59)) && !found.is_active(after_noon(60)));
}

/// Defines one `#[test]` for each function of this contract. The test calls the function with
/// `$harness`, and waits for its end with `$run`.
#[macro_export]
macro_rules! accounts_contract {
    ($harness:expr, $run:path) => {
        $crate::contract_tests!($harness, $run, accounts: [
            an_account_is_found_and_listed,
            an_unknown_account_is_none,
            an_account_comes_with_its_first_key_or_not_at_all,
            a_first_key_of_another_account_is_refused,
            an_issued_key_is_found_at_once,
            a_key_that_was_never_issued_is_not_found,
            a_key_is_revealed_again,
            a_key_ends_at_the_earlier_of_two_ends,
            a_revoked_key_stays_revoked_when_the_clock_is_set_back,
            a_key_whose_end_was_seen_stays_ended_when_the_clock_is_set_back,
            a_rotated_key_overlaps_with_its_successor,
            an_unknown_key_is_not_rotated,
            a_rotated_key_stays_with_its_account,
            keys_that_are_made_at_once_are_no_more_than_the_limit,
            ended_keys_make_room_up_to_all_there_may_be,
            keys_that_ended_long_ago_make_room,
            a_key_is_given_a_limit_of_its_own,
            a_key_is_given_another_label,
            an_account_is_renamed_and_given_a_country,
            a_suspended_accounts_keys_are_refused_until_it_is_resumed,
            a_closed_account_stays_closed,
            a_key_is_issued_with_an_end,
        ]);
    };
}
