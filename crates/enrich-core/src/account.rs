//! Accounts, which own credits, and their API keys.

use enrich_text::Country;
use jiff::Timestamp;

use crate::api_key::ApiKey;
use crate::id::id;

id!(
    /// The id of an account, which owns credits. Two accounts may have the same name, but never the
    /// same id.
    AccountId
);
id!(
    /// The id of an API key. It is not secret and may be logged.
    KeyId
);

/// An account: its name, status and settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// The account's id.
    pub id: AccountId,
    /// Name given by the operator.
    pub name: String,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Whether the account's keys are accepted.
    pub status: AccountStatus,
    /// The country that is assumed for phone numbers without a country calling code. With `None`,
    /// numbers without this code are refused.
    pub country: Option<Country>,
}

impl Account {
    /// Creates an active account with a new id and without a country; `now` is its time of
    /// creation.
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

/// The status of an account. Only an operator changes the status. It never changes by itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum AccountStatus {
    /// The account's keys are accepted until they end.
    #[default]
    Active,
    /// The account's keys are refused until the account is resumed.
    Suspended {
        /// Reason shown to the owner; may be empty.
        reason: String,
    },
    /// The account's keys are refused permanently.
    Closed,
}

impl AccountStatus {
    /// Returns the name of the status in storage and output.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Suspended { .. } => "suspended",
            Self::Closed => "closed",
        }
    }

    /// Returns the status with this name; `None` for an unknown name. `reason` is used only for
    /// [`Suspended`](Self::Suspended).
    pub fn named(name: &str, reason: String) -> Option<Self> {
        match name {
            "active" => Some(Self::Active),
            "suspended" => Some(Self::Suspended { reason }),
            "closed" => Some(Self::Closed),
            _ => None,
        }
    }
}

/// A change that an operator makes to an account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AccountChange {
    /// Changes the account's name.
    Rename(String),
    /// Sets the country that is assumed for phone numbers without a country calling code; `None`
    /// removes the country.
    SetCountry(Option<Country>),
    /// Refuses the account's keys until the account is resumed.
    Suspend {
        /// Reason shown to the owner; may be empty.
        reason: String,
    },
    /// Accepts the account's keys again.
    Resume,
    /// Closes the account permanently. Its API keys end, its owner is signed out, and nobody can
    /// sign in to it again. Its ledger entries stay.
    Close {
        /// Time of closing.
        at: Timestamp,
    },
}

/// The rate limit that is set for one API key. If a value is `None`, the server's value applies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RateOverride {
    /// Maximum number of requests in a window; `None` if the server's number applies.
    pub requests: Option<u32>,
    /// Window length in seconds; `None` if the server's length applies.
    pub window_seconds: Option<u32>,
}

/// The limit for the number of API keys of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyLimit {
    /// Maximum number of keys that are active at the same time.
    pub active: u32,
    /// Maximum number of keys in total: active keys, and keys that ended within the last
    /// [`ENDED_DAYS`](Self::ENDED_DAYS) days.
    pub all: u32,
}

impl KeyLimit {
    /// The limit for keys that the owner of an account creates. Each key has its own rate limit.
    /// So the limit on the number of keys also limits how many requests the whole account can
    /// make.
    pub const PER_ACCOUNT: Self = Self { active: 50, all: 1_000 };
    /// The limit for keys that the operator creates: as many active keys as
    /// [`PER_ACCOUNT`](Self::PER_ACCOUNT) allows, and any number of ended keys. So the operator
    /// can still replace a leaked key when the owner has used up the total number of keys.
    pub const OF_OPERATOR: Self = Self { all: u32::MAX, ..Self::PER_ACCOUNT };
    /// For this number of days after its end, an ended key still counts towards [`all`](Self::all).
    /// The store keeps the key longer, because ledger entries refer to it.
    pub const ENDED_DAYS: i64 = 90;
}

/// A new API key that is to be stored.
#[derive(Clone, Debug)]
pub struct NewKey {
    /// The key's id.
    pub id: KeyId,
    /// The account that owns the key.
    pub account: AccountId,
    /// Label given by the operator or by the account's owner; may be empty.
    pub label: String,
    /// The text of the key, which is secret.
    pub key: ApiKey,
    /// The rate limit that is set for this key; its values are `None` if the server's limit
    /// applies.
    pub rate: RateOverride,
    /// Time of creation.
    pub created_at: Timestamp,
    /// The key is refused from this time on; `None` if the key does not expire.
    pub expires_at: Option<Timestamp>,
}

impl NewKey {
    /// Creates a key of `account` with the creation time `now`. The key does not expire, and the
    /// server's rate limit applies to it.
    ///
    /// # Errors
    ///
    /// Fails when the system cannot provide random bytes.
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

/// A stored API key, without its secret text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyInfo {
    /// The key's id.
    pub id: KeyId,
    /// The account that owns the key.
    pub account: AccountId,
    /// Label given by the operator or by the account's owner; may be empty.
    pub label: String,
    /// The first characters of the key, such as `enr_live_Ab3d`, by which people recognise it
    /// ([`ApiKey::hint`]).
    pub hint: String,
    /// The rate limit that is set for this key; its values are `None` if the server's limit
    /// applies.
    pub rate: RateOverride,
    /// Time of creation.
    pub created_at: Timestamp,
    /// The key is refused from this time on, because it expires, was revoked or was replaced by
    /// another key. `None` if the key does not expire.
    pub expires_at: Option<Timestamp>,
    /// Whether the key has ended for good: it was revoked, or the store has recorded that
    /// `expires_at` has passed. Such a key stays refused, even if the clock is set back.
    pub has_ended: bool,
    /// Time of the last known use; `None` if no use is known. The key may have been used later,
    /// because uses are stored with a delay.
    pub last_used_at: Option<Timestamp>,
    /// Whether the key's account is active. If it is not, the key is refused, even if the key
    /// itself has not expired.
    pub is_account_active: bool,
    /// The country that is assumed for phone numbers without a country calling code. With `None`,
    /// numbers without this code are refused.
    pub country: Option<Country>,
}

impl KeyInfo {
    /// Whether the key itself is valid at `now`: it has not ended. The status of its account is
    /// not checked.
    pub fn is_active(&self, now: Timestamp) -> bool {
        !self.has_ended && self.expires_at.is_none_or(|end| now < end)
    }

    /// Whether the key is accepted at `now`: the key is still valid, and its account is active.
    pub fn is_accepted(&self, now: Timestamp) -> bool {
        self.is_account_active && self.is_active(now)
    }
}
