-- The terms under which the publisher of a source gives its records. NULL where none are known, as of
-- lists of one's own.
ALTER TABLE source ADD COLUMN licence TEXT;
ALTER TABLE source ADD COLUMN attribution TEXT;
ALTER TABLE source ADD COLUMN homepage TEXT;
