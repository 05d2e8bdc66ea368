//! The state of an account after its last row. The next row depends on this state: on the row
//! number, the balance and the hash.

use enrich_core::Credits;
use enrich_secrets::{Secret, Secrets};

use crate::row::{Chain, NO_ROW, Row};

/// The state of an account after its last row. The next row depends on these values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastRow {
    /// The number of the last row within the account; 0 if the account has no rows.
    pub sequence: u64,
    /// The balance after the last row.
    pub balance: Credits,
    /// The keyed hash of the last row, which the next row's hash covers.
    pub chain: Chain,
}

/// Why a stored row does not follow the row before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DoesNotFollow {
    /// The row's hash was made with a secret that is not in `secret.key`.
    #[error("the row was made with secret {0}, which is not in secret.key")]
    UnknownSecret(u32),
    /// The row or the row before it was altered, or a row between the two is missing.
    #[error("the row does not follow the row before it")]
    Altered,
}

impl LastRow {
    /// The state of an account without rows.
    pub const NONE: Self = Self { sequence: 0, balance: Credits::ZERO, chain: NO_ROW };

    /// Completes `row` as the account's next row: sets its sequence, and the number of the secret
    /// with which its hash is made. Returns the account's state after the row. The `chain` of the
    /// returned state is the hash that is stored with the row.
    ///
    /// `row` must already contain the new balance: [`decide_charge`](crate::decide_charge) or
    /// [`decide_grant`](crate::decide_grant) must have made the row from the balance of this state.
    pub fn append(&self, row: &mut Row<'_>, secret: &Secret) -> Self {
        row.sequence = self.sequence.saturating_add(1);
        row.secret = secret.id();
        self.after(row, row.chain(&self.chain, secret))
    }

    /// Checks that a stored row is the account's next row, and that `chain` is its hash. The row's
    /// sequence, balance and keyed hash must follow from this state. Returns the account's state
    /// after the row.
    ///
    /// `row` and this state must belong to the same account.
    ///
    /// # Errors
    ///
    /// When the row does not follow from this state, or was made with a secret that is not in
    /// `secrets`.
    pub fn follow(
        &self,
        row: &Row<'_>,
        chain: &Chain,
        secrets: &Secrets,
    ) -> Result<Self, DoesNotFollow> {
        let secret = secrets.with_id(row.secret).ok_or(DoesNotFollow::UnknownSecret(row.secret))?;
        let follows = self.sequence.checked_add(1) == Some(row.sequence)
            && self.balance.checked_add_signed(row.credits) == Some(row.balance)
            && row.chain(&self.chain, secret) == *chain;
        if follows { Ok(self.after(row, *chain)) } else { Err(DoesNotFollow::Altered) }
    }

    fn after(&self, row: &Row<'_>, chain: Chain) -> Self {
        Self { sequence: row.sequence, balance: row.balance, chain }
    }
}
