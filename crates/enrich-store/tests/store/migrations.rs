//! The schema's history: what was released is never changed.

use std::fs;
use std::path::Path;

/// Every file of the schema with the BLAKE3 hash of its text.
///
/// A file that was released never changes, not even in a comment: databases out there were made
/// with it, and one whose history differs is refused. A change of the schema is a new file, and a
/// new row here.
const FILES: [(&str, &str); 6] = [
    ("directory/V1__directory.sql", V1_DIRECTORY),
    ("directory/V2__name_words.sql", V2_NAME_WORDS),
    ("ledger/V1__ledger.sql", V1_LEDGER),
    ("ledger/V2__key_changes.sql", V2_KEY_CHANGES),
    ("ledger/V3__sign_ins.sql", V3_SIGN_INS),
    ("ledger/V4__kept_vouchers.sql", V4_KEPT_VOUCHERS),
];

const V1_DIRECTORY: &str = "0b77f0e468d8513bd0a013bda32a91d262eaed0bc088976d4317bb72251ca336";
const V2_NAME_WORDS: &str = "df3f6a3cc48c802b575390df5fab8947b4e7f0755556e2ca0af863afd8684c5b";
const V1_LEDGER: &str = "b3c1d0f8d24088fba9630ed77fbf911537b1cceb9898272a749f6a7256ae3aff";
const V2_KEY_CHANGES: &str = "4205efb77486837753ddff8b350a5edbef089daf0ad5f0adb57aaf344e0516a4";
const V3_SIGN_INS: &str = "a21d8a8e1d0df345195bbdf2a0bf687f7fafdcf553044020e8516a1622448f50";
const V4_KEPT_VOUCHERS: &str = "6d898e1a86b27c6437eb76232aeee6206acb6357700ee99cae0aae696ef68860";

#[test]
fn a_released_schema_never_changes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations");
    let mut there = Vec::new();
    for database in ["directory", "ledger"] {
        for file in fs::read_dir(folder.join(database)).unwrap() {
            let file = file.unwrap();
            let name = format!("{database}/{}", file.file_name().to_str().unwrap());
            there.push((name, blake3::hash(&fs::read(file.path()).unwrap()).to_string()));
        }
    }
    there.sort();
    let released = FILES.map(|(name, hash)| (name.to_owned(), hash.to_owned()));
    assert_eq!(there, released, "a released file was changed, or a new one has no row");
}
