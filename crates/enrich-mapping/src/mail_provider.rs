//! Recognises that the website of a mail provider, such as `gmail.com`, is given as the website of
//! another company.

use enrich_text::{Domain, is_public_mail_host};

use crate::native::plain_name;

/// Whether `domain` belongs to a mail provider, such as `gmail.com`, but `names` are the names of
/// another company. They are names of the provider itself if one of them begins with the domain or
/// with the domain's first label: `Gmail Inc`.
pub(crate) fn is_of_another_provider<'n>(
    domain: &str,
    names: impl IntoIterator<Item = &'n str>,
) -> bool {
    let Ok(domain) = Domain::parse(domain) else { return false };
    if !is_public_mail_host(&domain) {
        return false;
    }
    let whole = domain.registrable();
    let label = plain_name(whole.as_str().split('.').next().unwrap_or_default());
    let whole = plain_name(whole.as_str());
    !names.into_iter().any(|name| begins_with(name, &label) || begins_with(name, &whole))
}

/// Whether the first words of a name, joined without blanks and punctuation, are equal to `text`:
/// `T-Online International` begins with `tonline`.
fn begins_with(name: &str, text: &str) -> bool {
    let mut joined = String::new();
    name.split(|sign: char| !sign.is_alphanumeric()).any(|word| {
        joined.push_str(&word.to_lowercase());
        joined == text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mail_provider_keeps_its_own_website() {
        for name in ["Quillmark", "Webdesign Quill", ""] {
            assert!(is_of_another_provider("gmail.com", [name]), "{name}");
            assert!(is_of_another_provider("web.de", [name]), "{name}");
        }
        for (domain, name) in [
            ("gmail.com", "Gmail"),
            ("web.de", "WEB.DE"),
            ("t-online.de", "T-Online International"),
        ] {
            assert!(!is_of_another_provider(domain, ["Quill", name]), "{name}");
        }
        assert!(!is_of_another_provider("quill.example", ["Inkwell"]));
    }
}
