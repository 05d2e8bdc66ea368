//! Ports in memory, as small as the pages allow.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use async_trait::async_trait;
use enrich_core::port::accounts::{AccountChanged, Accounts, KeyStored};
use enrich_core::port::directory::Directory;
use enrich_core::port::error::StoreError;
use enrich_core::port::importer::Suppressed;
use enrich_core::port::ledger::{
    Charge, ChargeError, Charged, Grant, Granted, Ledger, Verification,
};
use enrich_core::port::usage::{DayCount, Usage, Use};
use enrich_core::{
    Account, AccountChange, AccountId, AccountStatus, ApiKey, BodyTemplate, Clock, Company,
    CompanyRef, Confidence, Credits, DirectoryRevision, Entry, EntryKind, Found, IdempotencyKey,
    KeyId, KeyInfo, KeyLimit, NewKey, Projection, Question, RateOverride, Site, StoredResponse,
    Subject, SubjectId, SuppressedValues, Timestamp,
};
use enrich_sign_in::{
    EmailSet, ListedSession, PasswordHash, Session, SessionId, SignIn, SignIns, Token,
};
use enrich_text::EmailAddress;
use parking_lot::Mutex;

/// A clock that stands still until it is set.
pub(crate) struct Watch(AtomicI64);

impl Watch {
    pub(crate) fn at(text: &str) -> Self {
        Self(AtomicI64::new(text.parse::<Timestamp>().unwrap().as_second()))
    }

    pub(crate) fn pass(&self, seconds: i64) {
        self.0.fetch_add(seconds, Ordering::SeqCst);
    }
}

impl Clock for Watch {
    fn now(&self) -> Timestamp {
        Timestamp::from_second(self.0.load(Ordering::SeqCst)).unwrap()
    }
}

/// The question and the stored answer.
type KeptAnswer = (Vec<u8>, BodyTemplate);

#[derive(Default)]
pub(crate) struct Ports {
    pub(crate) accounts: Mutex<Vec<Account>>,
    pub(crate) keys: Mutex<Vec<(KeyInfo, ApiKey)>>,
    pub(crate) entries: Mutex<Vec<Entry>>,
    kept: Mutex<BTreeMap<(AccountId, String), KeptAnswer>>,
    pub(crate) counts: Mutex<Vec<(AccountId, DayCount)>>,
    pub(crate) sign_ins: Mutex<Vec<SignIn>>,
    pub(crate) invitations: Mutex<BTreeMap<String, (AccountId, Timestamp)>>,
    pub(crate) sessions: Mutex<BTreeMap<String, Session>>,
    /// The threads of reads that may take long.
    pub(crate) read_on: Mutex<BTreeSet<String>>,
    /// A password that is set just before the next session begins.
    pub(crate) set_meanwhile: Mutex<Option<PasswordHash>>,
    /// Forgotten domains.
    pub(crate) forgotten: Mutex<Vec<String>>,
}

impl Ports {
    /// The state as text: equal texts mean that nothing was changed. The times when keys and
    /// sessions were used are left out.
    pub(crate) fn told(&self) -> String {
        let sessions: Vec<String> = self.sessions.lock().keys().cloned().collect();
        let passwords: Vec<String> = self
            .sign_ins
            .lock()
            .iter()
            .map(|sign_in| {
                let hash = sign_in.password.as_ref().map_or("", PasswordHash::expose);
                format!("{} {hash}", sign_in.email)
            })
            .collect();
        let keys: Vec<KeyInfo> = self.keys.lock().iter().map(|(info, _)| info.clone()).collect();
        format!(
            "{:?} {keys:?} {:?} {passwords:?} {:?} {sessions:?}",
            self.accounts.lock(),
            self.entries.lock(),
            self.invitations.lock().keys(),
        )
    }

    fn change(&self, id: KeyId, change: impl FnOnce(&mut KeyInfo)) -> bool {
        let mut keys = self.keys.lock();
        let key = keys.iter_mut().find(|(info, _)| info.id == id);
        key.map(|(info, _)| change(info)).is_some()
    }

    /// Records the thread of a read.
    fn note_thread(&self) {
        let name = std::thread::current().name().unwrap_or_default().to_owned();
        self.read_on.lock().insert(name);
    }

    fn balance_of(&self, account: AccountId) -> u64 {
        let entries = self.entries.lock();
        entries.iter().rfind(|entry| entry.account == account).map_or(0, |entry| entry.balance.0)
    }

    /// Adds a row to an account's ledger.
    pub(crate) fn enter(&self, account: AccountId, kind: EntryKind, credits: i64, at: Timestamp) {
        let balance = Credits(self.balance_of(account).checked_add_signed(credits).unwrap());
        let mut entries = self.entries.lock();
        let sequence = entries.iter().filter(|entry| entry.account == account).count() as u64 + 1;
        let (id, note) = (enrich_core::ChargeId::new(at), String::new());
        entries.push(Entry { account, sequence, id, kind, credits, balance, note, at });
    }
}

fn info(key: &NewKey) -> KeyInfo {
    KeyInfo {
        id: key.id,
        account: key.account,
        label: key.label.clone(),
        hint: key.key.hint().to_owned(),
        rate: key.rate,
        created_at: key.created_at,
        expires_at: None,
        has_ended: false,
        last_used_at: None,
        is_account_active: true,
        country: None,
    }
}

#[async_trait]
impl Accounts for Ports {
    async fn create(&self, account: Account, first_key: NewKey) -> Result<(), StoreError> {
        self.accounts.lock().push(account);
        self.keys.lock().push((info(&first_key), first_key.key));
        Ok(())
    }

    async fn account(&self, id: AccountId) -> Result<Option<Account>, StoreError> {
        Ok(self.accounts.lock().iter().find(|account| account.id == id).cloned())
    }

    async fn accounts(&self) -> Result<Vec<Account>, StoreError> {
        Ok(self.accounts.lock().clone())
    }

    async fn change(
        &self,
        id: AccountId,
        change: AccountChange,
    ) -> Result<AccountChanged, StoreError> {
        let mut accounts = self.accounts.lock();
        let Some(account) = accounts.iter_mut().find(|account| account.id == id) else {
            return Ok(AccountChanged::NoAccount);
        };
        match change {
            AccountChange::Rename(name) => account.name = name,
            AccountChange::SetCountry(country) => account.country = country,
            AccountChange::Suspend { reason } => {
                account.status = AccountStatus::Suspended { reason };
            }
            AccountChange::Resume => account.status = AccountStatus::Active,
            AccountChange::Close { .. } => account.status = AccountStatus::Closed,
        }
        Ok(AccountChanged::Done(account.clone()))
    }

    async fn add_key(&self, key: NewKey, limit: KeyLimit) -> Result<KeyStored, StoreError> {
        let mut keys = self.keys.lock();
        let own = keys.iter().filter(|(info, _)| info.account == key.account);
        let active = own.filter(|(info, _)| info.is_active(key.created_at)).count();
        if active >= limit.active as usize {
            return Ok(KeyStored::TooManyActive);
        }
        keys.push((info(&key), key.key));
        Ok(KeyStored::Stored)
    }

    async fn rotate_key(
        &self,
        old: KeyId,
        old_until: Timestamp,
        successor: NewKey,
        limit: KeyLimit,
    ) -> Result<KeyStored, StoreError> {
        let now = successor.created_at;
        let stored = self.add_key(successor, limit).await?;
        if stored == KeyStored::Stored {
            self.expire_key(old, old_until, now).await?;
        }
        Ok(stored)
    }

    async fn find_key(&self, key: &ApiKey) -> Result<Option<Arc<KeyInfo>>, StoreError> {
        let keys = self.keys.lock();
        let found = keys.iter().find(|(_, known)| known.expose() == key.expose());
        Ok(found.map(|(info, _)| Arc::new(info.clone())))
    }

    async fn key(&self, id: KeyId) -> Result<Option<KeyInfo>, StoreError> {
        let keys = self.keys.lock();
        Ok(keys.iter().find(|(info, _)| info.id == id).map(|(info, _)| info.clone()))
    }

    async fn keys(&self, account: AccountId) -> Result<Vec<KeyInfo>, StoreError> {
        let keys = self.keys.lock();
        let own = keys.iter().filter(|(info, _)| info.account == account);
        Ok(own.map(|(info, _)| info.clone()).collect())
    }

    async fn reveal(&self, id: KeyId) -> Result<Option<ApiKey>, StoreError> {
        let keys = self.keys.lock();
        Ok(keys.iter().find(|(info, _)| info.id == id).map(|(_, key)| key.clone()))
    }

    async fn set_rate(&self, id: KeyId, rate: RateOverride) -> Result<bool, StoreError> {
        Ok(self.change(id, |key| key.rate = rate))
    }

    async fn set_label(&self, id: KeyId, label: &str) -> Result<bool, StoreError> {
        Ok(self.change(id, |key| key.label = label.to_owned()))
    }

    async fn expire_key(
        &self,
        id: KeyId,
        at: Timestamp,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        Ok(self.change(id, |key| (key.expires_at, key.has_ended) = (Some(at), at <= now)))
    }

    async fn settle_ends(&self, _: Timestamp) -> Result<u64, StoreError> {
        Ok(0)
    }
}

#[async_trait]
impl Directory for Ports {
    async fn find(&self, question: &Question, _: Projection) -> Result<Option<Found>, StoreError> {
        let is_known = match question {
            Question::Company(CompanyRef::Name { name, .. }) => name.display() == "Quill",
            _ => false,
        };
        let company = || Company {
            id: SubjectId(1),
            name: "Quill".to_owned(),
            aliases: Vec::new(),
            seats: Vec::new(),
            sites: vec![Site { domain: "quill.example".to_owned(), country: None }],
            pages: Vec::new(),
            emails: Vec::new(),
            phones: Vec::new(),
            employees: Vec::new(),
        };
        Ok(is_known.then(|| Found {
            subject: Subject::Company(company()),
            confidence: Confidence::FULL,
            revision: DirectoryRevision(7),
        }))
    }

    async fn revision(&self) -> Result<DirectoryRevision, StoreError> {
        Ok(DirectoryRevision(7))
    }

    async fn suppressed(&self) -> Result<Option<Arc<dyn SuppressedValues>>, StoreError> {
        Ok(Some(Arc::new(Forgotten(self.forgotten.lock().clone()))))
    }
}

#[async_trait]
impl Ledger for Ports {
    async fn balance(&self, account: AccountId) -> Result<Option<Credits>, StoreError> {
        Ok(Some(Credits(self.balance_of(account))))
    }

    async fn kept(
        &self,
        account: AccountId,
        key: &IdempotencyKey,
        asked: &[u8],
        _: Timestamp,
    ) -> Result<Option<StoredResponse>, StoreError> {
        let kept = self.kept.lock();
        let found = kept.get(&(account, key.as_str().to_owned()));
        Ok(found.map(|(known, body)| {
            let balance = Credits(self.balance_of(account));
            let body = body.clone();
            if known == asked {
                StoredResponse::Answer { body, balance, items: 1 }
            } else {
                StoredResponse::OtherQuestion
            }
        }))
    }

    async fn charge(&self, charge: Charge) -> Result<Charged, ChargeError> {
        let (account, credits) = (charge.account, charge.credits());
        if let Some(idempotency) = charge.idempotency {
            let key = (account, idempotency.key.as_str().to_owned());
            self.kept.lock().insert(key, (idempotency.asked, idempotency.body));
        }
        if credits.0 > 0 {
            let kind = EntryKind::Charge {
                endpoint: charge.endpoint.to_owned(),
                items: charge.items,
                price: charge.price,
                key: charge.key,
                request_id: charge.request_id.to_string(),
                revision: charge.revision,
            };
            self.enter(account, kind, -i64::try_from(credits.0).unwrap(), charge.at);
        }
        Ok(Charged::Taken { balance: Credits(self.balance_of(account)) })
    }

    async fn grant(&self, grant: Grant) -> Result<Granted, ChargeError> {
        self.enter(grant.account, EntryKind::Grant, grant.credits, grant.at);
        Ok(Granted::Written { balance: Credits(self.balance_of(grant.account)) })
    }

    async fn entries(&self, _: AccountId, _: u64, _: u32) -> Result<Vec<Entry>, StoreError> {
        Err(StoreError::failed("no page reads the oldest first"))
    }

    async fn newest_entries(
        &self,
        account: AccountId,
        before: Option<u64>,
        limit: u32,
    ) -> Result<Vec<Entry>, StoreError> {
        self.note_thread();
        let entries = self.entries.lock();
        let own = entries.iter().rev().filter(|entry| entry.account == account);
        let older = own.filter(|entry| before.is_none_or(|before| entry.sequence < before));
        Ok(older.take(limit as usize).cloned().collect())
    }

    async fn first_entry_at(&self, account: AccountId, at: Timestamp) -> Result<u64, StoreError> {
        let entries = self.entries.lock();
        let own: Vec<_> = entries.iter().filter(|entry| entry.account == account).collect();
        let first = own.iter().position(|entry| entry.at >= at);
        Ok(first.unwrap_or(own.len()) as u64 + 1)
    }

    async fn end_of_entries_before(
        &self,
        account: AccountId,
        at: Timestamp,
    ) -> Result<u64, StoreError> {
        let entries = self.entries.lock();
        let own: Vec<_> = entries.iter().filter(|entry| entry.account == account).collect();
        Ok(own.iter().rposition(|entry| entry.at < at).map_or(1, |last| last as u64 + 2))
    }

    async fn verify(&self) -> Result<Verification, StoreError> {
        Err(StoreError::failed("no page verifies"))
    }

    fn is_charging(&self) -> bool {
        true
    }
}

#[async_trait]
impl Usage for Ports {
    fn count(&self, used: Use) {
        let count = DayCount {
            day: used.at.as_second().div_euclid(86_400),
            key: used.key,
            endpoint: used.endpoint.to_owned(),
            outcome: used.outcome,
            calls: 1,
            credits: used.credits,
        };
        self.counts.lock().push((used.account, count));
    }

    async fn flush(&self) -> Result<(), StoreError> {
        Ok(())
    }

    async fn days(
        &self,
        account: AccountId,
        first: i64,
        last: i64,
    ) -> Result<Vec<DayCount>, StoreError> {
        self.note_thread();
        let counts = self.counts.lock();
        let own = counts.iter().filter(|(of, _)| *of == account).map(|(_, count)| count);
        Ok(own.filter(|count| (first..=last).contains(&count.day)).cloned().collect())
    }
}

/// Tokens are random here, so half of one is enough for the session's id.
fn id_of(token: &str) -> SessionId {
    SessionId::parse(&token[..32]).unwrap()
}

#[async_trait]
impl SignIns for Ports {
    async fn set_email(
        &self,
        account: AccountId,
        email: &EmailAddress,
        now: Timestamp,
    ) -> Result<EmailSet, StoreError> {
        let (email, password, created_at) = (email.clone(), None, now);
        self.sign_ins.lock().push(SignIn { account, email, password, created_at });
        Ok(EmailSet::Set)
    }

    async fn sign_in(&self, account: AccountId) -> Result<Option<SignIn>, StoreError> {
        Ok(self.sign_ins.lock().iter().find(|sign_in| sign_in.account == account).cloned())
    }

    async fn by_email(&self, email: &EmailAddress) -> Result<Option<SignIn>, StoreError> {
        Ok(self.sign_ins.lock().iter().find(|sign_in| sign_in.email == *email).cloned())
    }

    async fn invite(
        &self,
        account: AccountId,
        token: &Token,
        until: Timestamp,
    ) -> Result<bool, StoreError> {
        self.invitations.lock().insert(token.expose().to_owned(), (account, until));
        Ok(true)
    }

    async fn invited(&self, token: &Token, now: Timestamp) -> Result<Option<SignIn>, StoreError> {
        let invitation = self.invitations.lock().get(token.expose()).copied();
        match invitation.filter(|(_, until)| now < *until) {
            Some((account, _)) => self.sign_in(account).await,
            None => Ok(None),
        }
    }

    async fn accept(
        &self,
        token: &Token,
        password: PasswordHash,
        now: Timestamp,
    ) -> Result<Option<AccountId>, StoreError> {
        let Some(sign_in) = self.invited(token, now).await? else { return Ok(None) };
        self.invitations.lock().remove(token.expose());
        self.set_password(sign_in.account, password, None).await?;
        Ok(Some(sign_in.account))
    }

    async fn set_password(
        &self,
        account: AccountId,
        password: PasswordHash,
        kept: Option<&Token>,
    ) -> Result<bool, StoreError> {
        if let Some(found) =
            self.sign_ins.lock().iter_mut().find(|sign_in| sign_in.account == account)
        {
            found.password = Some(password);
        }
        self.end_sessions(account, kept).await?;
        Ok(true)
    }

    async fn begin_session(&self, token: &Token, session: Session) -> Result<(), StoreError> {
        let password = self.set_meanwhile.lock().take();
        if let Some(password) = password {
            self.set_password(session.account, password, None).await?;
        }
        self.sessions.lock().insert(token.expose().to_owned(), session);
        Ok(())
    }

    async fn session(&self, token: &Token) -> Result<Option<Session>, StoreError> {
        Ok(self.sessions.lock().get(token.expose()).copied())
    }

    async fn touch_session(&self, token: &Token, at: Timestamp) -> Result<(), StoreError> {
        if let Some(session) = self.sessions.lock().get_mut(token.expose()) {
            session.seen_at = at;
        }
        Ok(())
    }

    async fn end_session(&self, token: &Token) -> Result<(), StoreError> {
        self.sessions.lock().remove(token.expose());
        Ok(())
    }

    async fn settle_ends(&self, _: Timestamp) -> Result<u64, StoreError> {
        Ok(0)
    }

    async fn sessions(
        &self,
        account: AccountId,
        current: Option<&Token>,
    ) -> Result<Vec<ListedSession>, StoreError> {
        let sessions = self.sessions.lock();
        let own = sessions.iter().filter(|(_, session)| session.account == account);
        Ok(own
            .map(|(token, session)| ListedSession {
                id: id_of(token),
                session: *session,
                is_current: current.is_some_and(|current| current.expose() == token),
            })
            .collect())
    }

    async fn end_session_of(&self, account: AccountId, id: SessionId) -> Result<bool, StoreError> {
        let mut sessions = self.sessions.lock();
        let before = sessions.len();
        sessions.retain(|token, session| session.account != account || id_of(token) != id);
        Ok(sessions.len() < before)
    }

    async fn end_sessions(
        &self,
        account: AccountId,
        kept: Option<&Token>,
    ) -> Result<u64, StoreError> {
        let mut sessions = self.sessions.lock();
        let before = sessions.len();
        let kept = kept.map(Token::expose);
        sessions
            .retain(|token, session| session.account != account || Some(token.as_str()) == kept);
        Ok((before - sessions.len()) as u64)
    }
}

/// Recently forgotten domains.
struct Forgotten(Vec<String>);

impl SuppressedValues for Forgotten {
    fn count(&self) -> u64 {
        self.0.len() as u64
    }

    fn holds(&self, value: &Suppressed) -> bool {
        matches!(value, Suppressed::Domain(domain) if self.0.iter().any(|it| it == domain.as_str()))
    }

    fn holds_since(&self, value: &Suppressed, _since: Timestamp) -> bool {
        self.holds(value)
    }
}
