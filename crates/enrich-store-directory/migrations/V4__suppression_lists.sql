-- The suppression lists that were loaded. A list has hashes of values, not the values themselves.
CREATE TABLE suppression_list (
    id       INTEGER NOT NULL PRIMARY KEY,
    -- The name of the list's file.
    name     TEXT    NOT NULL,
    -- What the list's digests are made of (`DigestKind` in enrich-core); NULL for a list whose entries
    -- are not compared with values.
    kind     TEXT,
    -- A hash of the list's name and entries: the same list again is the same row.
    content  BLOB    NOT NULL UNIQUE,
    entries  INTEGER NOT NULL,
    at       INTEGER NOT NULL,
    -- Whether the list was loaded to its end.
    complete INTEGER NOT NULL
) STRICT;

-- The entries of the lists that are in force: keyed hashes of a kind and a digest
-- (`importer/digests.rs`).
CREATE TABLE listed (
    hash BLOB    NOT NULL PRIMARY KEY,
    -- The last list that had the entry.
    list INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The entries because of which values were removed, and the subjects that had the values.
CREATE TABLE list_match (
    hash    BLOB    NOT NULL,
    list    INTEGER NOT NULL,
    subject INTEGER NOT NULL,
    PRIMARY KEY (hash, list, subject)
) STRICT, WITHOUT ROWID;

-- The entry of `listed` because of which a value is suppressed; NULL if it was forgotten on its own,
-- which nothing takes back.
ALTER TABLE suppressed ADD COLUMN listed BLOB;
-- When the entry was taken back. The value is then no longer suppressed; the row remains, so that
-- servers that answer from snapshots notice it.
ALTER TABLE suppressed ADD COLUMN taken_back_at INTEGER;
-- How often the row has changed: 1 when it is written, one more when its value is taken back or
-- suppressed again.
ALTER TABLE suppressed ADD COLUMN changes INTEGER NOT NULL DEFAULT 1;
CREATE INDEX suppressed_listed ON suppressed (listed) WHERE listed IS NOT NULL;
