//! Formats an error with its causes, for the log and the terminal.

use std::error::Error;

/// Returns the texts of an error and its causes, joined by colons.
pub fn error_chain(error: &dyn Error) -> String {
    let mut said = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let text = error.to_string();
        // Many errors already contain the text of their cause. Such a cause is left out.
        if !said.contains(&text) {
            said.push_str(": ");
            said.push_str(&text);
        }
        cause = error.source();
    }
    said
}

#[cfg(test)]
mod tests {
    use crate::port::error::StoreError;

    use super::*;

    #[test]
    fn an_error_is_told_with_its_cause_once() {
        let store = StoreError::failed("the disk is full");
        assert_eq!(error_chain(&store), "the store failed: the disk is full");
    }
}
