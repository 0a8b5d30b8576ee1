-- Two tables, each with a function that inserts a row or finds the row that is near. Sessions may call them concurrently. docs/constraints.md
-- says when to use them; test/t/024_insert_or_find.pl runs them beside other sessions.

-- By fingerprints: returns the row's id.
CREATE TABLE originals (
    id  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    url text,
    fp  bigint,
    EXCLUDE USING simhash (fp WITH ~=));
CREATE FUNCTION original_id(new_url text, new_fp bigint) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    row_id bigint;
BEGIN
    FOR attempt IN 1 .. 100 LOOP
        SELECT id INTO row_id FROM originals
        WHERE fp <~> new_fp <= 3 ORDER BY fp <~> new_fp, id LIMIT 1;
        IF FOUND THEN
            RETURN row_id;
        END IF;
        INSERT INTO originals (url, fp) VALUES (new_url, new_fp)
        ON CONFLICT DO NOTHING RETURNING id INTO row_id;
        IF FOUND THEN
            RETURN row_id;
        END IF;
        -- A row that was not there for the SELECT refused this one. The next SELECT sees it.
    END LOOP;
    RAISE 'no row near % can be seen, and none be inserted', new_fp USING ERRCODE = '55000';
END $$;

-- By documents: also whether the row was inserted, or else how similar the two are.
CREATE TABLE notices (
    id   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    body text,
    EXCLUDE USING simhash (body WITH =~~));
CREATE FUNCTION notice(new_body text, OUT id bigint, OUT inserted boolean,
                       OUT similarity double precision) LANGUAGE plpgsql AS $$
BEGIN
    FOR attempt IN 1 .. 100 LOOP
        SELECT n.id, false, shingle_similarity(n.body, new_body) INTO id, inserted, similarity
        FROM notices n WHERE n.body =~~ new_body ORDER BY 3 DESC, 1 LIMIT 1;
        IF FOUND THEN
            RETURN;
        END IF;
        INSERT INTO notices AS n (body) VALUES (new_body)
        ON CONFLICT DO NOTHING RETURNING n.id, true INTO id, inserted;
        IF FOUND THEN
            RETURN;
        END IF;
    END LOOP;
    RAISE 'no near-duplicate can be seen, and no row be inserted' USING ERRCODE = '55000';
END $$;
