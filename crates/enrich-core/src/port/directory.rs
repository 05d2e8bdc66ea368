//! The port that answers questions from the look-up data.

use std::sync::Arc;

use async_trait::async_trait;

use crate::account::AccountId;
use crate::port::error::StoreError;
use crate::question::{Projection, Question};
use crate::subject::{DirectoryRevision, Found};
use crate::suppressed::SuppressedValues;

/// The account for which a look-up is made. If look-ups must wait, tenants take turns.
///
/// A directory only compares tenants for equality: look-ups of the same tenant wait in the same
/// queue. A caller without an account uses the default tenant.
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
    /// Returns `None` if no subject fits. Also returns `None` if several subjects fit a name, and
    /// it is not clear which of them is the right one.
    async fn find(
        &self,
        question: &Question,
        projection: Projection,
    ) -> Result<Option<Found>, StoreError>;

    /// Like [`find`](Self::find), but on behalf of a tenant. If the directory queues expensive
    /// look-ups, tenants take turns in the queue. Other directories ignore the tenant.
    async fn find_for(
        &self,
        tenant: Tenant,
        question: &Question,
        projection: Projection,
    ) -> Result<Option<Found>, StoreError> {
        let _ = tenant;
        self.find(question, projection).await
    }

    /// Returns the suppressed values, so that the caller can check whether a stored response
    /// contains one of them. Returns `None` if this directory stores no suppressed values.
    async fn suppressed(&self) -> Result<Option<Arc<dyn SuppressedValues>>, StoreError> {
        Ok(None)
    }

    /// The current revision of the directory.
    async fn revision(&self) -> Result<DirectoryRevision, StoreError>;
}
