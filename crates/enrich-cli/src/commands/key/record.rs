//! Keys as they are displayed.

use std::io::{self, Write};

use enrich_core::{ApiKey, KeyInfo, RateOverride, Timestamp};
use serde::Serialize;

use super::super::table::{Side, Table, write_pairs};
use super::super::{Shown, named};

/// A key for display. `key` is set only when it was issued, shown or rotated.
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
    created_at: String,
    expires_at: Option<String>,
    last_used_at: Option<String>,
    active: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    replaces: Option<Replaced>,
    #[serde(skip)]
    is_account_active: bool,
    #[serde(skip)]
    times: Times,
}

/// The key that a rotation replaces.
#[derive(Serialize)]
struct Replaced {
    key_id: String,
    expires_at: Option<String>,
    #[serde(skip)]
    expires: Option<Timestamp>,
}

/// The times of a key, for display.
struct Times {
    created: Timestamp,
    expires: Option<Timestamp>,
    last_used: Option<Timestamp>,
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
            created_at: info.created_at.to_string(),
            expires_at: info.expires_at.map(|at| at.to_string()),
            last_used_at: info.last_used_at.map(|at| at.to_string()),
            replaces: None,
            times: Times {
                created: info.created_at,
                expires: info.expires_at,
                last_used: info.last_used_at,
            },
        }
    }

    /// Adds the key itself.
    pub(super) fn with_secret(self, secret: &ApiKey) -> Self {
        Self { key: Some(secret.expose().to_owned()), ..self }
    }

    /// Adds the key that it replaces.
    pub(super) fn in_place_of(self, old: &KeyInfo) -> Self {
        let replaced = Replaced {
            key_id: old.id.to_string(),
            expires_at: old.expires_at.map(|at| at.to_string()),
            expires: old.expires_at,
        };
        Self { replaces: Some(replaced), ..self }
    }

    fn limit(&self) -> String {
        limit(RateOverride { requests: self.rate_limit, window_seconds: self.rate_window })
    }

    fn state(&self) -> String {
        match self.times.expires.map(named::to_the_second) {
            None if !self.is_account_active => "refused with its account".to_owned(),
            None => "active".to_owned(),
            Some(end) if self.active => format!("active until {end}"),
            Some(end) => format!("ended {end}"),
        }
    }

    fn last_used(&self) -> String {
        self.times.last_used.map_or_else(|| "never".to_owned(), named::to_the_second)
    }
}

fn limit(own: RateOverride) -> String {
    match (own.requests, own.window_seconds) {
        (None, None) => "the server's".to_owned(),
        (Some(requests), None) => format!("{requests} in the server's window"),
        (None, Some(seconds)) => format!("the server's in {seconds} s"),
        (Some(requests), Some(seconds)) => format!("{requests} in {seconds} s"),
    }
}

impl Shown for KeyRecord {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut pairs = vec![("key id", self.key_id.clone())];
        match &self.key {
            Some(key) => pairs.push(("key", key.clone())),
            None => pairs.push(("prefix", self.prefix.clone())),
        }
        pairs.push(("account", self.account.clone()));
        pairs.push(("label", self.label.clone()));
        pairs.push(("rate limit", self.limit()));
        pairs.push(("created", named::to_the_second(self.times.created)));
        pairs.push(("last used", self.last_used()));
        pairs.push(("state", self.state()));
        if let Some(old) = &self.replaces {
            let end = old.expires.map(named::to_the_second).unwrap_or_default();
            pairs.push(("replaces", format!("{}, which ends {end}", old.key_id)));
        }
        write_pairs(&pairs, out)
    }
}

#[derive(Serialize)]
#[serde(transparent)]
pub(super) struct KeyList(pub(super) Vec<KeyRecord>);

impl Shown for KeyList {
    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        write_table(&self.0, out)
    }
}

/// Writes keys as a table, without their secrets.
pub(crate) fn write_table(keys: &[KeyRecord], out: &mut dyn Write) -> io::Result<()> {
    let titles = ["KEY ID", "PREFIX", "CREATED", "LAST USED", "STATE", "RATE LIMIT", "LABEL"];
    let mut table = Table::new(titles.map(|title| (title, Side::Left)));
    for key in keys {
        table.push([
            key.key_id.clone(),
            key.prefix.clone(),
            named::to_the_second(key.times.created),
            key.last_used(),
            key.state(),
            key.limit(),
            key.label.clone(),
        ]);
    }
    table.write(out)
}
