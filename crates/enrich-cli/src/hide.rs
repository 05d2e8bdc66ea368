//! Removes secrets from texts before they are shown: API keys, and the URLs of PostgreSQL
//! databases, which may contain passwords.

use std::borrow::Cow;

use enrich_core::KEY_PREFIX;

/// Replaces every API key in a text by `enr_live_…`. The error messages of clap quote arguments.
/// Without this function, a key in the wrong argument would be shown on the terminal or in a log.
pub(crate) fn without_keys(text: &str) -> Cow<'_, str> {
    let mut pieces = text.split(KEY_PREFIX);
    let mut cut = pieces.next().unwrap_or_default().to_owned();
    let mut has_keys = false;
    for piece in pieces {
        has_keys = true;
        cut.push_str(KEY_PREFIX);
        cut.push('…');
        cut.push_str(piece.trim_start_matches(|letter: char| letter.is_ascii_alphanumeric()));
    }
    if has_keys { Cow::Owned(cut) } else { Cow::Borrowed(text) }
}

/// Replaces by `…` each part of a text that may contain the password of a database:
///
/// - In a URL with a user name or a password, the text after `://`.
/// - In a line `store = …` of a settings file, the value. An error may quote such a line.
pub(crate) fn without_store_urls(text: &str) -> Cow<'_, str> {
    if !text.contains("://") && !text.contains("store") {
        return Cow::Borrowed(text);
    }
    let lines: Vec<String> = text.split('\n').map(|line| hide_users(&hide_setting(line))).collect();
    Cow::Owned(lines.join("\n"))
}

/// Replaces the value in a line `store = …` of a settings file by `…`. Returns any other line
/// unchanged.
fn hide_setting(line: &str) -> Cow<'_, str> {
    let setting = line.trim_start_matches(|letter: char| !letter.is_ascii_alphabetic());
    let value =
        setting.strip_prefix("store").map(|rest| rest.trim_start_matches(['"', '\'', ' ', '\t']));
    match value.and_then(|rest| rest.strip_prefix('=')) {
        Some(value) if !value.is_empty() => {
            Cow::Owned(format!("{} …", line.strip_suffix(value).unwrap_or_default()))
        }
        _ => Cow::Borrowed(line),
    }
}

/// Replaces, in each URL that contains a user or the parameter `password`, the text after `://` by
/// `…`. Returns the changed line.
fn hide_users(line: &str) -> String {
    let is_end = |letter: char| letter.is_whitespace() || matches!(letter, '\'' | '"' | '`');
    let mut pieces = line.split("://");
    let mut shown = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (rest, after) = piece.split_at(piece.find(is_end).unwrap_or(piece.len()));
        shown.push_str("://");
        let is_secret = rest.contains('@') || rest.contains("password");
        shown.push_str(if is_secret { "…" } else { rest });
        shown.push_str(after);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_user_of_a_url_is_hidden_and_other_urls_stay() {
        let hidden = |text| without_store_urls(text).into_owned();
        assert_eq!(
            hidden("unexpected 'postgres://a:hunter2@db.example/e?x=1' found"),
            "unexpected 'postgres://…' found"
        );
        assert_eq!(hidden("`postgres://db.example/e?user=a&password=hunter2`"), "`postgres://…`");
        let plain = "http://127.0.0.1:8080 and postgres://db.example/enrich";
        assert_eq!(hidden(plain), plain);
    }

    #[test]
    fn a_quoted_setting_is_hidden_whatever_it_is() {
        let quoted = "at line 1\n  |\n1 | store = a:hunter 2@db.example\n  |         ^\n";
        let hidden = without_store_urls(quoted);
        assert!(!hidden.contains("hunter") && hidden.contains("1 | store = …\n"), "{hidden}");
        let key = without_store_urls("1 | \"store\" = \"a:hunter2@db.example\"");
        assert_eq!(key, "1 | \"store\" = …");
        assert_eq!(without_store_urls("the store failed"), "the store failed");
    }
}
