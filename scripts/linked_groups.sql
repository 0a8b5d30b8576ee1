-- Keeps a column that says which documents belong together true, beside writers: notices.original is the least id of those that
-- near-duplicates link with this one, directly or through others. Put your table's name and columns in the place of notices (id,
-- body, original). docs/clusters.md says when to use it; test/t/027_groups.pl runs it beside four writers.
--
-- A trigger notes the document before and after each change. Only groups of documents near one of these can change, and the index
-- finds them. Call the functions at READ COMMITTED, each in its own transaction: a change that commits during a call waits in
-- touched_notices for the next one. A call can deadlock with a writer that changes several rows in a transaction: repeat the one
-- that the server ends with an error. Logical replication and session_replication_role = replica do not fire the trigger (ENABLE
-- ALWAYS TRIGGER helps), nor does attaching or detaching a partition. After these, call compute_originals().

CREATE INDEX ON notices USING simhash (body);
CREATE INDEX ON notices (original);
CREATE TABLE touched_notices (id bigint, body text);

-- With the rights of its owner, whoever writes. public is the schema of both tables: put yours in its place.
CREATE FUNCTION note_touched() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND (old.id, old.body) IS NOT DISTINCT FROM (new.id, new.body) THEN
        RETURN NULL;
    END IF;
    IF TG_OP <> 'INSERT' THEN INSERT INTO touched_notices VALUES (old.id, old.body); END IF;
    IF TG_OP <> 'DELETE' THEN INSERT INTO touched_notices VALUES (new.id, new.body); END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER note_touched AFTER INSERT OR UPDATE OR DELETE ON notices
FOR EACH ROW EXECUTE FUNCTION note_touched();

-- The whole: once now, as nobody noted what changed before the trigger was there.
CREATE FUNCTION compute_originals() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    LOCK TABLE touched_notices IN SHARE UPDATE EXCLUSIVE MODE;    -- not beside the function below
    UPDATE notices n SET original = g.original
    FROM near_duplicate_groups('SELECT id, body FROM notices ORDER BY id', chains => true) g
    WHERE n.id = g.id AND n.original IS DISTINCT FROM g.original;
END $$;

-- What changes have touched since the last call.
CREATE FUNCTION refresh_originals() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    LOCK TABLE touched_notices IN SHARE UPDATE EXCLUSIVE MODE;    -- one call at a time
    CREATE TEMP TABLE taken ON COMMIT DROP AS
    WITH t AS (DELETE FROM touched_notices RETURNING *) SELECT DISTINCT * FROM t;
    ANALYZE taken;
    CREATE TEMP TABLE affected ON COMMIT DROP AS
    WITH near AS MATERIALIZED (
        SELECT n.id, n.original FROM taken t JOIN notices n ON n.body =~~ t.body
        UNION
        SELECT n.id, n.original FROM taken t JOIN notices n ON n.id = t.id)
    SELECT id FROM near
    UNION
    SELECT n.id FROM notices n JOIN near USING (original);        -- all of their groups
    ANALYZE affected;
    UPDATE notices n SET original = g.original
    FROM near_duplicate_groups('SELECT id, body FROM notices JOIN affected USING (id) ORDER BY id', chains => true) g
    WHERE n.id = g.id AND n.original IS DISTINCT FROM g.original;
    DROP TABLE taken, affected;
END $$;

SELECT compute_originals();
