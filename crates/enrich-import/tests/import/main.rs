//! Tests of whole imports, into an importer in memory.
//!
//! The people are invented; the domains and phone numbers are reserved for examples.

#[cfg(test)]
mod any_bytes;
#[cfg(test)]
mod compressed;
#[cfg(test)]
mod csv;
#[cfg(test)]
mod inputs;
#[cfg(test)]
mod inputs_archives;
#[cfg(test)]
mod inputs_json;
#[cfg(test)]
mod inputs_tables;
#[cfg(test)]
mod inputs_xml;
#[cfg(test)]
mod joined;
#[cfg(test)]
mod json_lines;
#[cfg(test)]
mod memory;
#[cfg(test)]
mod own_lists;
#[cfg(test)]
mod shared_domains;
#[cfg(test)]
mod storing;
#[cfg(test)]
mod tables;
#[cfg(test)]
mod workbooks;
