//! Recognises email addresses that belong to a role or a department, such as `info@quill.example`.

use std::collections::HashSet;
use std::sync::LazyLock;

use crate::table;

static MAILBOXES: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    table::rows(include_str!("../data/role_mailboxes.txt"))
        .flat_map(|[names]| table::values(names))
        .collect()
});

/// Whether an email address belongs to a role or a department. Then every word before the `@` is
/// the name of a role or a department: `info`, `sales.support` or `rechnung2`. In `info.ada`, the
/// word `ada` may be a person, so this address does not count.
pub(crate) fn is_role_address(address: &str) -> bool {
    let address = address.rsplit(['<', ' ']).next().unwrap_or(address);
    let Some((local, _)) = address.split_once('@') else { return false };
    let local = local.split('+').next().unwrap_or(local).to_lowercase();
    // Invisible marks, which texts in Arabic or Hebrew may contain, are left out.
    let local: String = local.chars().filter(|it| it.is_alphanumeric() || it.is_ascii()).collect();
    let is_role =
        |part: &str| MAILBOXES.contains(part.trim_end_matches(|sign: char| sign.is_ascii_digit()));
    is_role(&local) || local.split(['.', '-', '_']).all(is_role)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_of_a_role_address_is_a_role() {
        for local in
            ["info", "Rechnung", "buha", "office", "sales.support", "no-reply", "info2", "hr+x"]
        {
            assert!(is_role_address(&format!("{local}@quill.example")), "{local}");
        }
        assert!(is_role_address("Quill <info@quill.example>"));
        assert!(is_role_address("info\u{200e}@quill.example"));
        for address in
            ["ada@quill.example", "info.ada@quill.example", "infos", "a.sales@quill.example"]
        {
            assert!(!is_role_address(address), "{address}");
        }
    }
}
