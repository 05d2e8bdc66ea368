//! Verifies a ledger: checks each row against the account's previous row, adds up the totals, and
//! writes the texts of faults.
//!
//! A store reads the rows of each account in order. Rows of several accounts may alternate. Some
//! faults can occur in only one kind of store, for example faults in its indexes. The code of that
//! store finds and reports such faults.

use std::fmt;

use enrich_core::port::ledger::Verification;
use enrich_core::{AccountId, ChargeId, Credits, EntryKind, Price};
use enrich_secrets::{Secret, Secrets};

use crate::last_row::LastRow;
use crate::row::{Chain, NO_ROW, Row};

/// Maximum number of faults that are reported. In a badly damaged database, every row could have a
/// fault.
const MAX_FAULTS: usize = 1000;

/// Names a row in the message of a fault, by account and sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct At(pub AccountId, pub u64);

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "account {}, row {}", self.0, self.1)
    }
}

/// A fault that can occur in every kind of store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The ledger contains rows of an account that does not exist.
    #[error("account {0}: has rows and is not there")]
    NoAccount(AccountId),
    /// Rows of an account are missing, from the row `first` to the row before `next`.
    #[error("{first}: missing, the next row is {next}")]
    Missing {
        /// The first missing row.
        first: At,
        /// The sequence of the first row after the missing ones.
        next: u64,
    },
    /// A row contains a value that Enrich never writes.
    #[error("{0}: cannot be read")]
    Unreadable(At),
    /// A row's hash was made with a secret that is not in `secret.key`.
    #[error("{at}: secret {secret} is not in secret.key")]
    UnknownSecret {
        /// The row whose hash was made with the secret.
        at: At,
        /// The number of the secret that is not in `secret.key`.
        secret: u32,
    },
    /// A row's hash does not match the row's content and the previous row's hash.
    #[error("{0}: is not as it was written")]
    Altered(At),
    /// A row's balance is not the previous balance plus the row's credits.
    #[error("{at}: {before} and {credits:+} credits do not make the balance {balance}")]
    WrongBalance {
        /// The row whose balance is wrong.
        at: At,
        /// The balance before the row.
        before: Credits,
        /// The change of the balance that the row contains.
        credits: i64,
        /// The balance that the row contains.
        balance: Credits,
    },
    /// The columns of a row do not fit its kind.
    #[error("{0}: is no row of its kind")]
    Malformed(At),
    /// The credits of a charge are not its price, or the charge has no items.
    #[error("{at}: {credits:+} credits for {items} items at {price}")]
    WrongPrice {
        /// The row of the charge.
        at: At,
        /// The credits that the row contains; negative for a charge.
        credits: i64,
        /// The number of items that the row contains.
        items: u64,
        /// The price rule that the row contains.
        price: Price,
    },
    /// An adjustment corrects an entry that does not exist, or that comes after the adjustment.
    #[error("{at}: corrects {corrects}, no row before it")]
    CorrectsNothing {
        /// The row of the adjustment.
        at: At,
        /// The id of the entry that the adjustment corrects.
        corrects: ChargeId,
    },
    /// The bytes of a stored response were altered.
    #[error("account {0}: a kept answer is not as it was written")]
    ResponseAltered(AccountId),
    /// A stored response cannot be read, and the id of its account cannot be read either.
    #[error("the kept answers: one that cannot be read")]
    ResponseUnreadable,
    /// The balance or the time of a stored response differs from the balance or the time of its
    /// charge.
    #[error("{0}: the answer kept for it names another balance or time")]
    ResponseDiffers(At),
    /// The charge of a stored response does not exist.
    #[error("account {account}: the charge {charge} is missing, its answer is kept")]
    ResponseWithoutCharge {
        /// The account whose response is stored.
        account: AccountId,
        /// The id of the missing charge.
        charge: ChargeId,
    },
    /// A usage counter contains a value that Enrich never writes.
    #[error("the usage counters: one that cannot be read")]
    UsageUnreadable,
    /// The usage counters of an account show more credits than were charged.
    #[error("account {account}: {used} credits are counted as used, {charged} were charged")]
    UsedTooMuch {
        /// The account whose counters are wrong.
        account: AccountId,
        /// The credits that the usage counters of the account show.
        used: i128,
        /// The credits of all the account's charges in the ledger.
        charged: i128,
    },
}

/// The totals and the faults that a verification has found so far.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    entries: u64,
    granted: i128,
    charged: i128,
    charges: u64,
    faults: Vec<String>,
    more_faults: u64,
}

impl Findings {
    /// Counts a row of the ledger, even if it cannot be read.
    pub fn count_row(&mut self) {
        self.entries += 1;
    }

    /// Returns the number of rows counted so far.
    pub fn rows(&self) -> u64 {
        self.entries
    }

    /// Adds a fault to the findings: a [`Fault`], or a message of the store. If there are too many
    /// faults, the fault is only counted.
    pub fn fault(&mut self, fault: impl fmt::Display) {
        if self.faults.len() < MAX_FAULTS {
            self.faults.push(fault.to_string());
        } else {
            self.more_faults += 1;
        }
    }

    /// Returns the result of the verification, for a ledger with this number of accounts.
    pub fn into_verification(mut self, accounts: u64) -> Verification {
        if self.more_faults > 0 {
            self.faults.push(format!("and {} more", self.more_faults));
        }
        // The sums are limited to the range of their types. If a sum is out of range, faults of
        // single rows were already reported.
        let most = |sum: i128, most: i128, least: i128| sum.clamp(least, most);
        Verification {
            accounts,
            entries: self.entries,
            granted: most(self.granted, i64::MAX.into(), i64::MIN.into()) as i64,
            charged: most(self.charged, u64::MAX.into(), 0) as u64,
            charges: self.charges,
            faults: self.faults,
        }
    }
}

/// The state of an account during a verification, after the rows read so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccountCheck {
    /// The sequence of the last row; 0 before the first row.
    pub sequence: u64,
    /// The balance before the next row that is stored; 0 before the account's first row. `None` if
    /// the row before the next one is missing or cannot be read.
    pub balance: Option<Credits>,
    /// The hash of the row before the next row that is stored. `None` if that row is missing, or if
    /// its hash cannot be read.
    pub chain: Option<Chain>,
    /// The sum of the account's charges, in credits.
    pub charged: i128,
}

/// A check of an adjustment that is not finished. The store must still look up whether the entry
/// that the adjustment corrects exists, and pass the result to [`Correction::check`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct Correction {
    /// The row of the adjustment.
    pub at: At,
    /// The id of the entry that the adjustment corrects.
    pub corrects: ChargeId,
}

impl AccountCheck {
    /// The state of an account before its first row.
    pub const START: Self =
        Self { sequence: 0, balance: Some(Credits::ZERO), chain: Some(NO_ROW), charged: 0 };

    /// Returns the values on which the account's next row depends. Returns `None` if the last row
    /// is missing or cannot be read.
    pub fn last_row(&self) -> Option<LastRow> {
        Some(LastRow { sequence: self.sequence, balance: self.balance?, chain: self.chain? })
    }

    /// Continues with the row with the number `sequence`, the next stored row of the account.
    /// Returns the account's state before this row. If rows between the last row and this row are
    /// missing, reports a fault.
    pub fn step_to(&self, account: AccountId, sequence: u64, findings: &mut Findings) -> Self {
        let next = self.sequence.saturating_add(1);
        if sequence == next {
            return *self;
        }
        findings.fault(Fault::Missing { first: At(account, next), next: sequence });
        Self { balance: None, chain: None, ..*self }
    }

    /// Reports that the row `at` cannot be read. Returns the account's state after this row.
    /// `chain` is the row's hash; `None` if the hash cannot be read either.
    pub fn after_unreadable(&self, at: At, chain: Option<Chain>, findings: &mut Findings) -> Self {
        findings.fault(Fault::Unreadable(at));
        Self { sequence: at.1, balance: None, chain, ..*self }
    }

    /// Checks that `chain` is the hash of `row`, which is the account's next row. Returns the
    /// secret with which the hash was made. If the secret is unknown, reports a fault and returns
    /// `None`: the row cannot be checked then.
    pub fn check_chain<'s>(
        &self,
        row: &Row<'_>,
        chain: &Chain,
        secrets: &'s Secrets,
        findings: &mut Findings,
    ) -> Option<&'s Secret> {
        let at = At(row.account, row.sequence);
        let Some(secret) = secrets.with_id(row.secret) else {
            findings.fault(Fault::UnknownSecret { at, secret: row.secret });
            return None;
        };
        if let Some(before) = self.chain
            && row.chain(&before, secret) != *chain
        {
            findings.fault(Fault::Altered(at));
        }
        Some(secret)
    }

    /// Checks that the next row's balance is the balance before it plus the row's credits.
    pub fn check_balance(&self, row: &Row<'_>, findings: &mut Findings) {
        let Row { account, sequence, credits, balance, .. } = *row;
        if let Some(before) = self.balance
            && before.checked_add_signed(credits) != Some(balance)
        {
            let at = At(account, sequence);
            findings.fault(Fault::WrongBalance { at, before, credits, balance });
        }
    }

    /// Checks the content of the account's next row, adds the row to the totals, and returns the
    /// account's state after it. For an adjustment, also returns a [`Correction`]: the caller must
    /// look up the entry that the adjustment corrects, and call [`Correction::check`].
    pub fn after(
        &self,
        row: Row<'_>,
        chain: &Chain,
        findings: &mut Findings,
    ) -> (Self, Option<Correction>) {
        let at = At(row.account, row.sequence);
        let (sequence, balance) = (row.sequence, Some(row.balance));
        let mut after = Self { sequence, balance, chain: Some(*chain), charged: self.charged };
        let Ok(entry) = row.entry() else {
            findings.fault(Fault::Malformed(at));
            return (after, None);
        };
        let credits = i128::from(entry.credits);
        match entry.kind {
            EntryKind::Charge { items, price, .. } => {
                findings.charges += 1;
                findings.charged -= credits;
                after.charged -= credits;
                if credits != -i128::from(price.of(items).0) || items == 0 {
                    let credits = entry.credits;
                    findings.fault(Fault::WrongPrice { at, credits, items, price });
                }
                (after, None)
            }
            EntryKind::Grant => {
                findings.granted += credits;
                (after, None)
            }
            EntryKind::Adjustment { corrects } => {
                findings.granted += credits;
                (after, Some(Correction { at, corrects }))
            }
        }
    }
}

impl Correction {
    /// Checks that the adjustment comes after the entry that it corrects. `earlier` is the sequence
    /// of this entry in the same account; `None` if the account has no such entry.
    pub fn check(self, earlier: Option<u64>, findings: &mut Findings) {
        let Self { at, corrects } = self;
        if earlier.is_none_or(|earlier| earlier >= at.1) {
            findings.fault(Fault::CorrectsNothing { at, corrects });
        }
    }
}
