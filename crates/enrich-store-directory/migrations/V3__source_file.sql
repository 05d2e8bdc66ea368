-- The file that a source's records came from, by its whole path: a file of the same name in another
-- folder is told from it. NULL where none is known, as of sources from before this version.
ALTER TABLE source ADD COLUMN file TEXT;
