-- Decisions of an operator on the records of companies (`importer/decisions.rs`). They name records, not
-- companies, so they outlive imports and the removal of sources.
CREATE TABLE decision (
    id            INTEGER NOT NULL PRIMARY KEY,
    -- 1: all records are one company. 2: the records of the two sides are never one company.
    kind          INTEGER NOT NULL,
    at            INTEGER NOT NULL,
    -- When the decision was taken back; NULL while it is in force. The row remains, so that no other
    -- decision gets its number.
    taken_back_at INTEGER
) STRICT;

-- The records that a decision names.
CREATE TABLE decided_record (
    decision      INTEGER NOT NULL,
    -- 0 or 1.
    side          INTEGER NOT NULL,
    ordinal       INTEGER NOT NULL,
    -- The name of the source: its number is another one after the source was removed and imported again.
    source        TEXT    NOT NULL,
    -- The id that the source gives the record; NULL if it gives none.
    source_record TEXT,
    -- A name of the record, as written.
    name          TEXT    NOT NULL,
    -- A host of the record, else the key of a page; empty if it has neither.
    place         TEXT    NOT NULL,
    PRIMARY KEY (decision, side, ordinal)
) STRICT, WITHOUT ROWID;
