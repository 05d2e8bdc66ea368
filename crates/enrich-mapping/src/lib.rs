//! Turns records from open data, or from exports of other systems, into Enrich's native records.
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
//! 1. A reader looks at the beginning of a file and describes it as a [`Sample`]. [`detect`] then
//!    finds the mapping of the built-in source that the file is from. Without detection, a mapping
//!    comes from [`Mapping::built_in`], [`Mapping::from_toml`], [`Mapping::from_columns`] or
//!    [`Mapping::from_synonyms`].
//! 2. [`Mapping::input_for`] returns an [`Input`], which describes how the file is read.
//! 3. The reader yields one JSON object at a time. [`Mapping::map`] makes native records from it;
//!    `docs/reference/import-format.md` describes native records. [`name_only`] finds records that
//!    have no identifier but a name.
//!
//! **Joined sources.** If [`Mapping::join`] returns a [`Join`], the reader must build each record
//! from the rows of several files of an archive.
//!
//! **Contact cards.** [`vcards`] reads the records of a vCard file ([`InputKind::Vcard`]).
//!
//! This crate does no input or output. The mapping files in `formats/` and the tables in `data/`
//! are compiled into it.

mod access_link;
mod address;
mod built_in;
mod code_page;
mod column_groups;
mod column_name;
mod column_rules;
mod column_values;
mod column_words;
mod columns;
mod company_and_person;
mod condition;
mod contact_cell;
mod country_item;
mod country_name;
mod detect;
mod ditto;
mod error;
mod half_width;
mod hidden_signs;
mod input;
mod join;
mod json_fields;
mod known_columns;
mod location;
mod mail_provider;
mod mapping;
mod meaning;
mod name_only;
mod name_order;
mod native;
mod no_value;
mod node;
mod outcome;
mod path;
mod person_text;
mod phone_text;
mod record_draft;
mod record_rule;
mod role_mailbox;
mod route;
mod rule;
mod source;
mod synonyms;
mod table;
mod template;
mod total_row;
mod transform;
mod vcard;
mod wikidata;

pub use address::is_address;
pub use built_in::built_ins;
pub use code_page::CodePage;
pub use column_name::{is_address_column, is_known_column, may_be_repeated};
pub use detect::{Detection, Sample, detect};
pub use ditto::Dittos;
pub use error::MappingError;
pub use input::{Input, InputKind};
pub use join::{Join, JoinMember};
pub use mapping::{Mapping, Merge};
pub use name_only::{is_name_only, name_only};
pub use native::{Field, Named, RecordType, plain_name};
pub use no_value::{is_no_name, is_no_value};
pub use outcome::{Mapped, Note, Outcome, Settings};
pub use path::is_same_column;
pub use route::{Route, route_url};
pub use source::SourceInfo;
pub use synonyms::Synonyms;
pub use total_row::{is_count_of, is_total, is_total_row};
pub use vcard::vcards;
