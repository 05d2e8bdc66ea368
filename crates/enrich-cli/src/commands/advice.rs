//! What a user can do about an error of the store. The store's errors do not name commands and
//! options, because a program that embeds the store does not have them.

use std::error::Error;
use std::iter;

use enrich_core::error_chain;
use enrich_snapshot::SnapshotError;
use enrich_store::{BackupError, CompactError, CopyError, LedgerCopyError, OpenError};

/// Returns the texts of an error and its causes, and what the user can do, if that is known.
pub(super) fn explained(error: &(dyn Error + 'static)) -> String {
    let text = error_chain(error);
    match iter::successors(Some(error), |&error| error.source()).find_map(advice) {
        Some(advice) => format!("{text}; {advice}"),
        None => text,
    }
}

/// Returns what the user can do about an error. Does not look at the causes of the error.
fn advice(error: &(dyn Error + 'static)) -> Option<&'static str> {
    if let Some(error) = opening_error(error) {
        return advice_on_opening(error);
    }
    if let Some(BackupError::Unsound(_)) = error.downcast_ref() {
        return Some("see `enrich check` and `enrich ledger verify`");
    }
    match error.downcast_ref()? {
        LedgerCopyError::DoesNotAddUp(_) | LedgerCopyError::Copy(CopyError::Malformed(_)) => {
            Some("see `enrich ledger verify`")
        }
        _ => None,
    }
}

fn advice_on_opening(error: &OpenError) -> Option<&'static str> {
    Some(match error {
        OpenError::LedgerMoved(_) => "name the database with --store",
        OpenError::HasLedger(_) => "name another folder with --data, or leave --store out",
        OpenError::UnfinishedRestore(_) => {
            "wait for it, or run `enrich restore` again if it was broken off"
        }
        OpenError::InUse(_) => {
            "stop the server and other commands that use it, or wait for another `enrich reindex` \
             or `enrich restore`, and try again"
        }
        OpenError::BeingReindexed(_) => {
            "wait until `enrich reindex` or `enrich restore` is done with it"
        }
        OpenError::DerivedBefore(_) => {
            "run `enrich reindex` on its folder once, while no server uses it"
        }
        OpenError::NotAsWritten { .. } => "see what `enrich ledger verify` says",
        OpenError::OlderSchema { .. } => "`enrich check` opens the folder",
        _ => return None,
    })
}

/// If the error is an [`OpenError`] or contains one, returns the [`OpenError`].
///
/// The chain of sources does not have a contained [`OpenError`]: the containing error is marked
/// `#[error(transparent)]`, so its `source` is the source of the [`OpenError`].
fn opening_error<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a OpenError> {
    if let Some(SnapshotError::Open(error)) = error.downcast_ref() {
        return Some(error);
    }
    if let Some(BackupError::Open(error)) = error.downcast_ref() {
        return Some(error);
    }
    if let Some(CompactError::Open(error)) = error.downcast_ref() {
        return Some(error);
    }
    if let Some(LedgerCopyError::Folder(error)) = error.downcast_ref() {
        return Some(error);
    }
    error.downcast_ref()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_of_the_store_is_told_with_what_to_do() {
        let moved = || OpenError::LedgerMoved("data".into());
        let told = "the accounts and the ledger of data were moved to PostgreSQL; name the \
                    database with --store";
        assert_eq!(explained(&moved()), told);
        assert_eq!(explained(&SnapshotError::Open(moved())), told);
        assert_eq!(explained(&LedgerCopyError::Folder(moved())), told);
        assert_eq!(explained(anyhow::Error::from(moved()).as_ref()), told);
        let unsound = BackupError::Unsound(vec!["a page is damaged".to_owned()]);
        assert!(explained(&unsound).ends_with("see `enrich check` and `enrich ledger verify`"));
        assert_eq!(
            explained(&OpenError::Missing("data".into())),
            "there is no data folder at data"
        );
    }
}
