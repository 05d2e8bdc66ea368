//! Whole imports, into an importer in memory.
//!
//! People are invented; domains and numbers are reserved ones.

#[cfg(test)]
mod any_bytes;
#[cfg(test)]
mod compressed;
#[cfg(test)]
mod csv;
#[cfg(test)]
mod json_lines;
#[cfg(test)]
mod memory;
#[cfg(test)]
mod storing;
#[cfg(test)]
mod tables;
#[cfg(test)]
mod workbooks;
