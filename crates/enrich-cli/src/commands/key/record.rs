//! An API key as commands print it.

use std::io::{self, Write};

use enrich_core::{ApiKey, KeyInfo, Timestamp};
use serde::Serialize;

use super::super::table::{Pairs, Row};
use super::super::{Shown, named};

/// An API key in the form in which commands print it. The field `key` is the secret text. It is set
/// only when the key was issued, shown or rotated.
#[derive(Serialize)]
pub(crate) struct KeyRecord {
    key_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    account: String,
    label: String,
    prefix: String,
    rate_limit: Option<u32>,
    rate_window: Option<u32>,
    created_at: Timestamp,
    expires_at: Option<Timestamp>,
    last_used_at: Option<Timestamp>,
    active: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    replaces: Option<Replaced>,
    #[serde(skip)]
    is_account_active: bool,
}

/// The old key that a rotation has replaced.
#[derive(Serialize)]
struct Replaced {
    key_id: String,
    expires_at: Option<Timestamp>,
}

impl KeyRecord {
    pub(super) fn new(info: KeyInfo, now: Timestamp) -> Self {
        Self {
            key_id: info.id.to_string(),
            key: None,
            account: info.account.to_string(),
            active: info.is_accepted(now),
            is_account_active: info.is_account_active,
            label: info.label,
            prefix: info.hint,
            rate_limit: info.rate.requests,
            rate_window: info.rate.window_seconds,
            created_at: info.created_at,
            expires_at: info.expires_at,
            last_used_at: info.last_used_at,
            replaces: None,
        }
    }

    pub(super) fn with_secret(self, secret: &ApiKey) -> Self {
        Self { key: Some(secret.expose().to_owned()), ..self }
    }

    /// Adds `old`, the key that this new key replaces, to the output.
    pub(super) fn in_place_of(self, old: &KeyInfo) -> Self {
        let replaced = Replaced { key_id: old.id.to_string(), expires_at: old.expires_at };
        Self { replaces: Some(replaced), ..self }
    }

    fn limit(&self) -> String {
        match (self.rate_limit, self.rate_window) {
            (None, None) => "the server's".to_owned(),
            (Some(requests), None) => format!("{requests} in the server's window"),
            (None, Some(seconds)) => format!("the server's in {seconds} s"),
            (Some(requests), Some(seconds)) => format!("{requests} in {seconds} s"),
        }
    }

    fn state(&self) -> String {
        match self.expires_at.map(named::to_the_second) {
            None if !self.is_account_active => "refused with its account".to_owned(),
            None => "active".to_owned(),
            Some(end) if self.active => format!("active until {end}"),
            Some(end) => format!("ended {end}"),
        }
    }

    fn last_used(&self) -> String {
        self.last_used_at.map_or_else(|| "never".to_owned(), named::to_the_second)
    }
}

impl Shown for KeyRecord {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let pairs = Pairs::default().add("key id", &self.key_id);
        let mut pairs = match &self.key {
            Some(key) => pairs.add("key", key),
            None => pairs.add("prefix", &self.prefix),
        }
        .add("account", &self.account)
        .add("label", &self.label)
        .add("rate limit", self.limit())
        .add("created", named::to_the_second(self.created_at))
        .add("last used", self.last_used())
        .add("state", self.state());
        if let Some(old) = &self.replaces {
            let end = old.expires_at.map(named::to_the_second).unwrap_or_default();
            pairs = pairs.add("replaces", format!("{}, which ends {end}", old.key_id));
        }
        pairs.write(out)
    }
}

/// A key as a row of a table. The row does not contain the secret text.
impl Row for KeyRecord {
    const TITLES: &'static [&'static str] =
        &["KEY ID", "PREFIX", "CREATED", "LAST USED", "STATE", "RATE LIMIT", "LABEL"];

    fn cells(&self) -> Vec<String> {
        vec![
            self.key_id.clone(),
            self.prefix.clone(),
            named::to_the_second(self.created_at),
            self.last_used(),
            self.state(),
            self.limit(),
            self.label.clone(),
        ]
    }
}
