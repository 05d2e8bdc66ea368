-- Companies whose records have to be divided into companies again: their records, or the records that
-- share a name, a domain, a page, a phone number or an id with them, have changed. The rows are
-- written in the transaction of the change, so an import that was interrupted is completed by the next
-- one (`importer/resolution.rs`).
CREATE TABLE unresolved (
    subject INTEGER NOT NULL PRIMARY KEY
) STRICT;

-- The companies that all records of a former company belong to now. The fingerprints in `record` may
-- still name the former company.
CREATE TABLE merged_company (
    subject     INTEGER NOT NULL PRIMARY KEY,
    merged_into INTEGER NOT NULL
) STRICT;
CREATE INDEX merged_company_into ON merged_company (merged_into);
