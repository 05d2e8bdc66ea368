-- A random value for each committed change, with which a file of the hash index is compared
-- (`directory/hash_index/stored.rs`): a restored backup may have the generation of another content.
-- Empty before the first change of this version.
ALTER TABLE state ADD COLUMN change_id BLOB NOT NULL DEFAULT x'';
