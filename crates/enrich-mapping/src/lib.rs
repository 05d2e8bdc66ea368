//! Mappings of open data and of own exports to Enrich's native records.
//!
//! ```
//! use enrich_mapping::{Mapping, Outcome, Settings};
//!
//! let mapping = Mapping::from_toml(
//!     r#"
//!     [source]
//!     name = "members"
//!     [fields]
//!     name = "Company name"
//!     domains = ["Website", "Shop"]
//!     "#,
//! )?;
//! let row = serde_json::json!({"Company name": "Quillmark", "Website": "www.quillmark.example"});
//! let mapped = mapping.map(row.as_object().unwrap(), &Settings::default());
//! let Outcome::Records(records) = mapped.outcome else { panic!("skipped") };
//! assert_eq!(records[0]["domains"][0], "quillmark.example");
//! # Ok::<(), enrich_mapping::MappingError>(())
//! ```
//!
//! # How a file is imported
//!
//! 1. A reader looks at the beginning of a file and describes it as a [`Sample`]; [`detect`] names
//!    the built-in source. [`Mapping::built_in`], [`Mapping::from_toml`],
//!    [`Mapping::from_columns`] and [`Mapping::from_synonyms`] give a mapping otherwise.
//! 2. [`Mapping::input_for`] says how the file is read: an [`Input`].
//! 3. The reader yields one JSON object at a time, and [`Mapping::map`] makes native records of it:
//!    those that `docs/reference/import-format.md` describes. [`name_only`] tells the records that
//!    have no key.
//!
//! **Joined sources.** If [`Mapping::join`] is there, a record is gathered from several members of
//! an archive: see [`Join`].
//!
//! **Cards.** The records of a file of cards ([`InputKind::Vcard`]) come from [`vcards`].
//!
//! This crate does no input or output. The mapping files in `formats/` and its tables in `data/`
//! are compiled in.

mod built_in;
mod columns;
mod condition;
mod country_item;
mod detect;
mod draft;
mod error;
mod external_id;
mod input;
mod join;
mod mapping;
mod meaning;
mod name_only;
mod native;
mod node;
mod outcome;
mod path;
mod record_rule;
mod route;
mod rule;
mod source;
mod synonyms;
mod table;
mod template;
mod transform;
mod vcard;
mod wikidata;

pub use built_in::built_ins;
pub use detect::{Detection, Sample, detect};
pub use error::MappingError;
pub use external_id::external_id;
pub use input::{Input, InputKind};
pub use join::{Join, JoinMember};
pub use mapping::{Mapping, Merge};
pub use name_only::name_only;
pub use native::RecordType;
pub use outcome::{Mapped, Note, Outcome, Settings};
pub use route::{Route, route_url};
pub use source::SourceInfo;
pub use synonyms::Synonyms;
pub use vcard::vcards;
