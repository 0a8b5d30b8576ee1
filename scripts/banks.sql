-- Banks of picture hashes: the tables of Hasher-Matcher-Actioner (ThreatExchange), as far as needed, and what an index on them takes
-- (docs/pictures.md). On a database that has its tables, run what follows the three CREATE TABLE.
CREATE TABLE bank (id integer PRIMARY KEY, name text);
CREATE TABLE bank_content (id integer PRIMARY KEY, bank_id integer REFERENCES bank);
CREATE TABLE content_signal (
    content_id  integer REFERENCES bank_content,
    signal_type text,
    signal_val  text,       -- hexadecimal digits
    PRIMARY KEY (content_id, signal_type));

-- Within how many bits of a hash a picture counts as one of the bank.
ALTER TABLE bank ADD threshold integer NOT NULL DEFAULT 31;
-- The hash as a code, and the bank beside it: an index has columns of one table.
ALTER TABLE content_signal
    ADD bank_id integer,
    ADD pdq bit(256) GENERATED ALWAYS AS (CASE signal_type WHEN 'pdq' THEN code_from_hex(signal_val) END) STORED;
UPDATE content_signal SET bank_id = c.bank_id FROM bank_content c WHERE c.id = content_id;
CREATE FUNCTION find_bank() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    SELECT bank_id INTO NEW.bank_id FROM bank_content WHERE id = NEW.content_id;
    RETURN NEW;
END $$;
CREATE TRIGGER find_bank BEFORE INSERT ON content_signal FOR EACH ROW EXECUTE FUNCTION find_bank();
-- Refuses a hash within 31 bits of another of the same bank.
ALTER TABLE content_signal ADD CONSTRAINT new_in_its_bank EXCLUDE USING simhash (pdq WITH =~~, bank_id WITH =);
