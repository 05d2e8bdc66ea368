-- What sources say of a subject, as `importer/stored_facts.rs` writes it: beside the profile, because
-- most values are in both, and a merge reads and writes both.
ALTER TABLE subject ADD COLUMN facts BLOB NOT NULL DEFAULT x'';

-- The table `fact` is empty from now on. In a directory from before this version, `enrich reindex`
-- moves its rows into `subject.facts`.
