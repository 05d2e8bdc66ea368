//! The port (a trait) that answers questions from the look-up data.

use std::sync::Arc;

use async_trait::async_trait;

use crate::account::AccountId;
use crate::port::error::StoreError;
use crate::question::{Projection, Question};
use crate::subject::{DirectoryRevision, Found};
use crate::suppressed::SuppressedValues;

/// The account for which a look-up is made. If look-ups must wait in a queue, the tenants take
/// turns.
///
/// A [`Directory`] only checks whether two tenants are equal: look-ups of equal tenants wait in the
/// same queue. A caller without an account uses the default tenant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tenant(u128);

impl From<AccountId> for Tenant {
    fn from(account: AccountId) -> Self {
        Self(account.0.as_u128())
    }
}

/// Answers questions from the look-up data.
#[async_trait]
pub trait Directory: Send + Sync {
    /// Finds the company, the candidates, the person or the domain that `question` asks for. The
    /// result has at least the parts in `projection`, such as the phone numbers.
    ///
    /// Returns `None` if nothing fits the question. Also returns `None` if the question asks for
    /// one company or person, several fit the name, and it is unclear which of them is meant.
    async fn find(
        &self,
        question: &Question,
        projection: Projection,
    ) -> Result<Option<Found>, StoreError>;

    /// Finds what `question` asks for, as [`find`](Self::find) does, for the account `tenant`. If
    /// the directory has a queue for expensive look-ups, the tenants take turns in it. A directory
    /// without a queue ignores the tenant.
    async fn find_for(
        &self,
        tenant: Tenant,
        question: &Question,
        projection: Projection,
    ) -> Result<Option<Found>, StoreError> {
        let _ = tenant;
        self.find(question, projection).await
    }

    /// Returns the suppressed values, which no answer may contain. With them, the caller can check
    /// whether a stored response contains a suppressed value. Returns `None` if this directory
    /// stores no suppressed values.
    async fn suppressed(&self) -> Result<Option<Arc<dyn SuppressedValues>>, StoreError> {
        Ok(None)
    }

    /// Returns the current revision of the directory (the look-up data): a number that every change
    /// of the data increases.
    async fn revision(&self) -> Result<DirectoryRevision, StoreError>;
}
