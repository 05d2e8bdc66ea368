//! The spellings in which people write a company's social-media page or its domain, such as
//! `https://www.linkedin.com/company/quill` and `linkedin.com/company/quill/`.

use enrich_text::{Domain, Network};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// The ASCII characters that are escaped in a path: all except letters, digits, `-`, `_`, `.`
/// and `~`.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// A spelling: its name, such as `upper case`, and its text.
pub(crate) type Form = (&'static str, String);

/// Returns the spellings of a social-media page whose handle (its name in the network) is `handle`.
/// If `handle` contains a character that no handle can have, such as `/`, then `handle` is a part
/// of a URL. In this case, only `handle` itself is returned.
pub(crate) fn of_page(network: Network, handle: &str) -> Vec<Form> {
    if handle.contains(['/', '?', '#', '%']) || handle.contains(char::is_whitespace) {
        return vec![("it was given", handle.to_owned())];
    }
    let id = network == Network::Youtube && is_channel_id(handle);
    let mut forms = vec![("handle", handle.to_owned()), ("handle and slash", format!("{handle}/"))];
    if !id {
        forms.push(("@handle", format!("@{handle}")));
        forms.push(("handle in another case", in_other_case(handle)));
    }
    let host = network.host();
    let path = path_of(network, handle, id);
    let shouted = if id { path.clone() } else { in_other_case(&path) };
    forms.extend([
        ("address", format!("https://www.{host}/{path}")),
        ("address without www", format!("https://{host}/{path}")),
        ("address without scheme", format!("www.{host}/{path}")),
        ("address without either", format!("{host}/{path}")),
        ("address and slash", format!("http://www.{host}/{path}/")),
        ("mobile host", format!("https://{}.{host}/{path}", mobile(network))),
        ("query", format!("https://www.{host}/{path}?utm_source=mail&lang=en")),
        ("fragment", format!("https://www.{host}/{path}#about")),
        ("slash, query and fragment", format!("{host}/{path}/?ref=page_internal#top")),
        ("further path", format!("https://www.{host}/{path}/{}", further(network))),
        ("upper case", format!("HTTPS://WWW.{}/{shouted}", host.to_ascii_uppercase())),
    ]);
    let encoded = utf8_percent_encode(handle, ENCODED).to_string();
    if encoded != handle {
        let path = path_of(network, &encoded, id);
        forms.push(("percent-encoded", format!("https://www.{host}/{path}/")));
    }
    forms.extend(of_network(network, handle, id));
    forms
}

/// Returns the additional spellings that only pages of this network have.
fn of_network(network: Network, handle: &str, is_channel_id: bool) -> Vec<Form> {
    let site = |path: &str| format!("https://www.{}/{path}{handle}", network.host());
    match network {
        Network::LinkedIn => vec![
            ("country host", format!("https://de.linkedin.com/company/{handle}")),
            ("path alone", format!("company/{handle}")),
            ("/school/", site("school/")),
            ("/showcase/", site("showcase/")),
        ],
        Network::Facebook => {
            let mut forms = vec![
                ("country host", format!("https://de-de.facebook.com/{handle}")),
                ("fb.com", format!("fb.com/{handle}")),
                ("/pg/", format!("{}/about", site("pg/"))),
            ];
            if handle.bytes().all(|byte| byte.is_ascii_digit()) {
                forms.push(("profile.php", site("profile.php?id=")));
                forms.push(("/pages/", site("pages/Somebody/")));
            }
            forms
        }
        Network::Twitter => vec![
            ("x.com", format!("https://x.com/{handle}")),
            ("#!", site("#!/")),
            ("@ in the address", site("@")),
        ],
        Network::Instagram => vec![("@ in the address", site("@"))],
        Network::Youtube if is_channel_id => vec![],
        Network::Youtube => {
            vec![("/c/", site("c/")), ("/user/", site("user/")), ("no kind", site(""))]
        }
    }
}

/// Returns the spellings of a domain: as a host and in a URL. If the domain contains characters
/// outside ASCII, also returns it in ASCII and in Unicode.
pub(crate) fn of_domain(domain: &str) -> Vec<Form> {
    let mut forms = vec![
        ("host", domain.to_owned()),
        ("address", format!("https://{domain}/about?ref=mail#top")),
        ("upper case", in_other_case(domain)),
        ("www.", format!("www.{domain}")),
    ];
    if let Ok(read) = Domain::parse(domain)
        && read.to_unicode() != read.as_str()
    {
        forms.push(("A-labels", read.as_str().to_owned()));
        forms.push(("Unicode", read.to_unicode()));
    }
    forms
}

fn path_of(network: Network, handle: &str, is_channel_id: bool) -> String {
    match network {
        Network::LinkedIn => format!("company/{handle}"),
        Network::Youtube if is_channel_id => format!("channel/{handle}"),
        Network::Youtube => format!("@{handle}"),
        Network::Facebook | Network::Instagram | Network::Twitter => handle.to_owned(),
    }
}

/// Whether a handle is a channel id of YouTube. In channel ids, upper and lower case are
/// different; in handles, they are equal.
pub(crate) fn is_channel_id(handle: &str) -> bool {
    handle.len() == 24 && handle.starts_with("UC")
}

fn mobile(network: Network) -> &'static str {
    match network {
        Network::Twitter => "mobile",
        _ => "m",
    }
}

fn further(network: Network) -> &'static str {
    match network {
        Network::LinkedIn | Network::Facebook => "about/",
        Network::Instagram => "reels/",
        Network::Twitter => "with_replies",
        Network::Youtube => "videos",
    }
}

/// Changes upper-case letters to lower case, and lower-case letters to upper case. A letter stays
/// as it is if the change could not be undone, such as `ß`.
fn in_other_case(text: &str) -> String {
    text.chars()
        .map(|letter| {
            if letter.is_ascii_uppercase() {
                return letter.to_ascii_lowercase();
            }
            let mut upper = letter.to_uppercase();
            match (upper.next(), upper.next()) {
                (Some(one), None) if one.to_lowercase().eq([letter]) => one,
                _ => letter,
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use enrich_text::PageUrl;

    use super::*;

    fn form(forms: &[Form], name: &str) -> Option<String> {
        forms.iter().find(|(known, _)| *known == name).map(|(_, text)| text.clone())
    }

    #[test]
    fn every_form_of_a_page_is_that_page() {
        let handles = [
            (Network::LinkedIn, "quill-&-söhne"),
            (Network::Facebook, "QuillPress"),
            (Network::Facebook, "100064501234567"),
            (Network::Instagram, "quill.press"),
            (Network::Twitter, "QuillPress"),
            (Network::Youtube, "QuillPress"),
            (Network::Youtube, "UCabcdefghijklmnopqrstuv"),
        ];
        for (network, handle) in handles {
            let page = PageUrl::parse(network, handle).unwrap();
            let forms = of_page(network, handle);
            assert!(forms.len() > 10, "{network} {handle}");
            for (name, text) in forms {
                let read = PageUrl::parse(network, &text).map(|page| page.key().to_owned());
                assert_eq!(read.as_deref(), Ok(page.key()), "{name}: {text}");
            }
        }
    }

    #[test]
    fn forms_that_only_some_handles_have_are_left_to_those() {
        let channel = of_page(Network::Youtube, "UCabcdefghijklmnopqrstuv");
        assert_eq!(form(&channel, "@handle"), None);
        assert_eq!(form(&channel, "handle in another case"), None);
        let upper = "HTTPS://WWW.YOUTUBE.COM/channel/UCabcdefghijklmnopqrstuv";
        assert_eq!(form(&channel, "upper case").as_deref(), Some(upper));
        let named = of_page(Network::Facebook, "quill");
        assert_eq!(form(&named, "profile.php"), None);
        assert_eq!(form(&named, "percent-encoded"), None);
        let numbered = of_page(Network::Facebook, "1234567");
        let profile = "https://www.facebook.com/profile.php?id=1234567";
        assert_eq!(form(&numbered, "profile.php").as_deref(), Some(profile));
        let signs = of_page(Network::LinkedIn, "quill-&-söhne");
        let encoded = "https://www.linkedin.com/company/quill-%26-s%C3%B6hne/";
        assert_eq!(form(&signs, "percent-encoded").as_deref(), Some(encoded));
    }

    #[test]
    fn the_rest_of_an_address_is_asked_as_it_is() {
        for rest in ["groups?gid=7", "company/quill/", "quill press", "s%C3%B6hne"] {
            assert_eq!(of_page(Network::LinkedIn, rest), [("it was given", rest.to_owned())]);
        }
    }

    #[test]
    fn letters_without_another_case_stay() {
        assert_eq!(in_other_case("Größe-1"), "gRÖßE-1");
    }

    #[test]
    fn a_domain_is_asked_in_both_spellings() {
        let forms = of_domain("größe.example");
        assert_eq!(form(&forms, "A-labels").as_deref(), Some("xn--gre-6ka8i.example"));
        assert_eq!(form(&forms, "www.").as_deref(), Some("www.größe.example"));
        let plain: Vec<&str> = of_domain("quill.example").iter().map(|(name, _)| *name).collect();
        assert_eq!(plain, ["host", "address", "upper case", "www."]);
    }
}
