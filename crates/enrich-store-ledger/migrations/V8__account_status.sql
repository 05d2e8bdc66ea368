-- What an operator sets for an account.
--
-- Its status is no time, so that no clock can change it: 'active'; 'suspended', whose keys are refused
-- until it is resumed; 'closed', which is final.
ALTER TABLE account ADD COLUMN status TEXT NOT NULL DEFAULT 'active'
    CHECK (status IN ('active', 'suspended', 'closed'));

-- Why it is suspended, for its owner to read; empty otherwise.
ALTER TABLE account ADD COLUMN status_reason TEXT NOT NULL DEFAULT '';

-- The alpha-2 code of the country that its national phone numbers are read with.
ALTER TABLE account ADD COLUMN country TEXT;

-- What is remembered of keys holds these as well.
CREATE TRIGGER account_changed AFTER UPDATE OF status, status_reason, country ON account
BEGIN
    UPDATE key_changes SET number = number + 1;
END;
