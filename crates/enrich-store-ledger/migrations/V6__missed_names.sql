-- How often names of companies were asked for that nobody bears, where the operator wants to know.
CREATE TABLE missed_name (
    -- Days since 1970-01-01 (UTC). Counts of a day go with it.
    day     INTEGER NOT NULL,
    -- A keyed hash of the name's matching form.
    hash    BLOB    NOT NULL,
    -- The name itself, where the operator asked for texts.
    name    TEXT,
    calls   INTEGER NOT NULL,
    PRIMARY KEY (day, hash)
) STRICT, WITHOUT ROWID;
