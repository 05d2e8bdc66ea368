//! The error for a promise that Enrich has broken. One promise is, for example, that the ledger
//! contains every charge that a client was told of.
//!
//! Every other error means that the test itself failed to run.

use anyhow::Result;

use crate::judge::Breach;

/// Maximum number of broken promises that the message of an error lists.
const SHOWN: usize = 20;

#[derive(Debug, thiserror::Error)]
#[error("broken: {}", shown(.0))]
pub(crate) struct Broken(Vec<String>);

impl Broken {
    /// Returns an error that names one broken promise.
    pub(crate) fn because(what: impl Into<String>) -> anyhow::Error {
        Self(vec![what.into()]).into()
    }

    /// Returns an error with the broken promises in `broken`; `Ok` if it is empty.
    pub(crate) fn if_any(broken: Vec<String>) -> Result<()> {
        if broken.is_empty() { Ok(()) } else { Err(Self(broken).into()) }
    }

    /// Returns an error if the judge found any breach.
    pub(crate) fn if_any_breach(breaches: &[Breach]) -> Result<()> {
        let texts = breaches.iter().map(|Breach { kind, what }| format!("{kind:?}: {what}"));
        Self::if_any(texts.collect())
    }
}

fn shown(broken: &[String]) -> String {
    let mut text = broken.iter().take(SHOWN).cloned().collect::<Vec<_>>().join("\n  ");
    if broken.len() > SHOWN {
        text.push_str(&format!("\n  and {} more", broken.len() - SHOWN));
    }
    text
}

#[cfg(test)]
mod tests {
    use anyhow::Context as _;

    use super::*;

    #[test]
    fn it_is_known_as_itself_behind_what_was_added_to_it() {
        let error = Broken::because("x");
        let error = Err::<(), _>(error).context("round 3").context("the folder").unwrap_err();
        assert!(error.downcast_ref::<Broken>().is_some());
        assert!(Broken::if_any(Vec::new()).is_ok());
    }

    #[test]
    fn a_flood_is_cut_short() {
        let text = Broken(vec!["x".to_owned(); 25]).to_string();
        assert!(text.ends_with("and 5 more"), "{text}");
    }
}
