//! The look-up data.

use std::sync::Arc;

use async_trait::async_trait;

use crate::account::AccountId;
use crate::port::error::StoreError;
use crate::question::{Projection, Question};
use crate::subject::{DirectoryRevision, Found};
use crate::suppressed::SuppressedValues;

/// The tenant of a look-up. Tenants share expensive look-ups fairly.
///
/// A directory only compares tenants for equality: the look-ups of one tenant share a queue.
/// Callers without accounts use the default.
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
    /// Finds the subject for `question`, with at least the parts in `projection`.
    ///
    /// `None` if no subject fits, or if several fit a name and cannot be distinguished.
    async fn find(
        &self,
        question: &Question,
        projection: Projection,
    ) -> Result<Option<Found>, StoreError>;

    /// Like [`find`](Self::find), for a tenant. In a directory that queues expensive look-ups,
    /// tenants take turns. Other directories ignore the tenant.
    async fn find_for(
        &self,
        tenant: Tenant,
        question: &Question,
        projection: Projection,
    ) -> Result<Option<Found>, StoreError> {
        let _ = tenant;
        self.find(question, projection).await
    }

    /// Returns the suppressed values, so that stored answers can be checked for them; `None` if the
    /// directory keeps none.
    async fn suppressed(&self) -> Result<Option<Arc<dyn SuppressedValues>>, StoreError> {
        Ok(None)
    }

    /// The current revision of the directory.
    async fn revision(&self) -> Result<DirectoryRevision, StoreError>;
}
