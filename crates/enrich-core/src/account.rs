//! Accounts, which own credits, and the keys that speak for them.

use enrich_text::Country;
use jiff::Timestamp;

use crate::api_key::ApiKey;
use crate::id::id;

id!(
    /// An account, the owner of credits. Names need not be unique; ids are.
    AccountId
);
id!(
    /// A key, by which its record is spoken of. It is not the secret and may be logged.
    KeyId
);

/// An account as the operator sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// Its id.
    pub id: AccountId,
    /// What the operator called it.
    pub name: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// Whether its keys are accepted.
    pub status: AccountStatus,
    /// The country that its national phone numbers are read with.
    pub country: Option<Country>,
}

impl Account {
    /// A new account, made at `now`.
    pub fn new(name: impl Into<String>, now: Timestamp) -> Self {
        Self {
            id: AccountId::new(now),
            name: name.into(),
            created_at: now,
            status: AccountStatus::Active,
            country: None,
        }
    }
}

/// Whether an account's keys are accepted. It is no time: no clock changes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum AccountStatus {
    /// They are, until each one's own end.
    #[default]
    Active,
    /// They are refused until the account is resumed.
    Suspended {
        /// Why, for its owner to read; may be empty.
        reason: String,
    },
    /// They are refused for good.
    Closed,
}

impl AccountStatus {
    /// The name it is stored and shown by.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Suspended { .. } => "suspended",
            Self::Closed => "closed",
        }
    }

    /// The status of this name; `None` when there is none.
    pub fn named(name: &str, reason: String) -> Option<Self> {
        match name {
            "active" => Some(Self::Active),
            "suspended" => Some(Self::Suspended { reason }),
            "closed" => Some(Self::Closed),
            _ => None,
        }
    }
}

/// What an operator changes about an account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AccountChange {
    /// Another name.
    Rename(String),
    /// Another country for national phone numbers, or none.
    SetCountry(Option<Country>),
    /// Its keys are refused until it is resumed.
    Suspend {
        /// Why, for its owner to read; may be empty.
        reason: String,
    },
    /// Its keys are accepted again.
    Resume,
    /// Closed for good: its keys and sessions end, and nobody signs in to it any more. What the ledger
    /// holds of it stays.
    Close {
        /// When.
        at: Timestamp,
    },
}

/// A limit of its own that a key has; what is absent comes from the server's settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RateOverride {
    /// Requests in a window.
    pub requests: Option<u32>,
    /// The window's length in seconds.
    pub window_seconds: Option<u32>,
}

/// How many keys an account may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyLimit {
    /// In use at once.
    pub active: u32,
    /// In use, or ended in the last [`ENDED_DAYS`](Self::ENDED_DAYS).
    pub all: u32,
}

impl KeyLimit {
    /// The limit of what an account's owner does. Rate limits of keys multiply with it.
    pub const PER_ACCOUNT: Self = Self { active: 50, all: 1_000 };
    /// The limit of what the operator does: a key that has leaked can be replaced, however many keys
    /// the owner has used up.
    pub const OF_OPERATOR: Self = Self { all: u32::MAX, ..Self::PER_ACCOUNT };
    /// For how many days a key counts after its end. It is kept for longer: the ledger refers to it.
    pub const ENDED_DAYS: i64 = 90;
}

/// A key to be stored.
#[derive(Clone, Debug)]
pub struct NewKey {
    /// Its id.
    pub id: KeyId,
    /// The account it speaks for.
    pub account: AccountId,
    /// What the operator calls it; may be empty.
    pub label: String,
    /// The secret itself.
    pub key: ApiKey,
    /// Its own limit.
    pub rate: RateOverride,
    /// When it was made.
    pub created_at: Timestamp,
    /// From when on it is refused; `None` for no end.
    pub expires_at: Option<Timestamp>,
}

impl NewKey {
    /// A new key for `account`, made at `now`, without a limit of its own.
    ///
    /// # Errors
    ///
    /// When the system has no randomness to give.
    pub fn generate(
        account: AccountId,
        label: impl Into<String>,
        now: Timestamp,
    ) -> Result<Self, getrandom::Error> {
        Ok(Self {
            id: KeyId::new(now),
            account,
            label: label.into(),
            key: ApiKey::generate()?,
            rate: RateOverride::default(),
            created_at: now,
            expires_at: None,
        })
    }
}

/// What is known of a key without the secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyInfo {
    /// Its id.
    pub id: KeyId,
    /// The account it speaks for.
    pub account: AccountId,
    /// What the operator calls it; may be empty.
    pub label: String,
    /// The beginning of the secret, enough to recognise it by: [`ApiKey::hint`].
    pub hint: String,
    /// Its own limit.
    pub rate: RateOverride,
    /// When it was made.
    pub created_at: Timestamp,
    /// From when on it is refused: revoked, or rotated away. `None` while it has no end.
    pub expires_at: Option<Timestamp>,
    /// Whether that end is final: the key was revoked, or its end was seen to have come. It stays
    /// refused then, also where the clock is set back.
    pub has_ended: bool,
    /// When it was last used, to within the delay of the usage counters.
    pub last_used_at: Option<Timestamp>,
    /// Whether the account is active: while it is not, the key is refused whatever its own end.
    pub is_account_active: bool,
    /// The country that the account's national phone numbers are read with.
    pub country: Option<Country>,
}

impl KeyInfo {
    /// Whether the key has not ended at `now`.
    pub fn is_active(&self, now: Timestamp) -> bool {
        !self.has_ended && self.expires_at.is_none_or(|end| now < end)
    }

    /// Whether the key is accepted at `now`: it has not ended, and its account is active.
    pub fn is_accepted(&self, now: Timestamp) -> bool {
        self.is_account_active && self.is_active(now)
    }
}
