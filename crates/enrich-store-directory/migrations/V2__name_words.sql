-- The words of companies' names, and which companies' names hold them: where approximate look-ups
-- take their candidates from. Derived from the names, like `identifier`.

-- A word by its root (`enrich_text::NameWord`), and its last companies.
CREATE TABLE name_word (
    word      TEXT    NOT NULL PRIMARY KEY,
    -- How many companies have it.
    companies INTEGER NOT NULL,
    -- The last of them, as `directory/postings.rs` writes them; those before are in chunks.
    last      BLOB    NOT NULL
) STRICT, WITHOUT ROWID;

-- The earlier companies of a word, in the order of their ids.
CREATE TABLE name_word_chunk (
    word      TEXT    NOT NULL,
    -- The first company in it.
    first     INTEGER NOT NULL,
    companies BLOB    NOT NULL,
    PRIMARY KEY (word, first)
) STRICT, WITHOUT ROWID;

-- Words by what is left of them when a letter is missing, so that a misspelt word finds them.
CREATE TABLE name_word_variant (
    -- A hash of the variant (`directory/variants.rs`).
    variant INTEGER NOT NULL,
    word    TEXT    NOT NULL,
    PRIMARY KEY (variant, word)
) STRICT, WITHOUT ROWID;

-- How many companies there are: how rare a word is goes by it.
ALTER TABLE state ADD COLUMN companies INTEGER NOT NULL DEFAULT 0;

-- By which rules the derived rows were made; 0 by those before there was this column. Where they are
-- others now, everything is derived from the facts once more (`intake/deriving.rs`).
ALTER TABLE state ADD COLUMN derived_by INTEGER NOT NULL DEFAULT 0;
