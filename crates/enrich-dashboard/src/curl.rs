//! Writes a call as a `curl` command line, which the pages show to the user.

use enrich_wire::{ApiVersion, Endpoint, KeyPlace};

/// Returns the command line for a call. `key` is put where the API version expects the API key;
/// `body` is a JSON object.
pub(crate) fn command(
    address: &str,
    api_version: &ApiVersion,
    endpoint: &Endpoint,
    key: &str,
    body: &str,
) -> String {
    let url = quoted(&format!("{address}{}", endpoint.path));
    let json = "-H 'content-type: application/json'";
    match api_version.key_place {
        KeyPlace::Header => {
            let key = quoted(&format!("x-api-key: {key}"));
            format!("curl -s {url} {json} \\\n  -H {key} \\\n  -d {}", quoted(body))
        }
        KeyPlace::Body => {
            let fields = body.trim_start_matches('{');
            let comma = if fields == "}" { "" } else { "," };
            let data = format!("{{\"apiKey\":\"{key}\"{comma}{fields}");
            format!("curl -s {url} {json} \\\n  -d {}", quoted(&data))
        }
    }
}

/// The path and the body of the call that is suggested to a new user. Any company name is suitable,
/// because a call that finds nothing is free.
const FIRST: (&str, &str) = ("/v1/cuf", r#"{"companyName":"Telefonica"}"#);

/// Returns the suggested first call with this key as a command line; `None` if its endpoint is not
/// served.
pub(crate) fn first_call(
    address: &str,
    api_versions: &[&'static ApiVersion],
    key: &str,
) -> Option<String> {
    let (path, body) = FIRST;
    let found = api_versions.iter().find_map(|all| Some((all, all.endpoint(path)?)));
    found.map(|(api_version, endpoint)| command(address, api_version, endpoint, key, body))
}

/// Quotes a word for a Unix shell, so that the shell does not interpret its characters.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_of_a_shell_ends_where_it_ends() {
        assert_eq!(quoted("it's; rm -rf '/'"), r"'it'\''s; rm -rf '\''/'\'''");
    }
}
