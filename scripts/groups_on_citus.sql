-- The groups of near_duplicate_groups over a table that Citus has on shards, without all digests on one machine: copies has each
-- document that has an original before it, in the order of ids. Put your table's name and columns in the place of docs (id, body),
-- which is distributed by id. docs/scaling.md says when to use it and what each step takes; test/t/020_shards.pl runs it on one
-- node.
--
-- Nobody may change docs meanwhile. The digest's layout belongs to a version of the extension.

CREATE TABLE signatures (id bigint, keys bytea);
CREATE TABLE bands (key integer, band integer, id bigint);
CREATE TABLE candidates (id bigint, other bigint, PRIMARY KEY (id, other));
CREATE TABLE texts (id bigint, other bigint, body text);
CREATE TABLE pairs (id bigint, other bigint, similarity double precision);
CREATE TABLE copies (id bigint PRIMARY KEY, original bigint, similarity double precision);
SELECT create_distributed_table('signatures', 'id', colocate_with => 'docs');
SELECT create_distributed_table('bands', 'key', colocate_with => 'none');
SELECT create_distributed_table('candidates', 'id', colocate_with => 'docs');
SELECT create_distributed_table('texts', 'other', colocate_with => 'docs');
SELECT create_distributed_table('pairs', 'other', colocate_with => 'docs');

-- On each shard: the keys of the bands, of 4 bytes each, from byte 49 of the digest. Its second argument is a seed, here 0, and
-- the similarity, here .8, of 8 bytes each, as a little-endian machine has them. A text that occurs thousands of times makes
-- millions of pairs: leave out all but the first.
INSERT INTO signatures
SELECT id, substring(document_digest(body, '\x00000000000000009a9999999999e93f') FROM 49) FROM docs;

-- Documents with a key of a band in common move to the same shard, and are candidates. If there is no room for all bands, insert
-- some at a time, by a condition on band, and TRUNCATE bands after the candidates of those.
INSERT INTO bands
SELECT ('x' || encode(substring(keys FROM 4 * band + 1 FOR 4), 'hex'))::bit(32)::integer, band, id
FROM signatures, generate_series(0, length(keys) / 4 - 1) band;
INSERT INTO candidates
SELECT a.id, b.id FROM bands a JOIN bands b ON a.key = b.key AND a.band = b.band AND a.id < b.id
ON CONFLICT DO NOTHING;

-- The text of one moves to the shard of the other, which compares the two.
INSERT INTO texts SELECT c.id, c.other, body FROM candidates c JOIN docs d ON d.id = c.id;
INSERT INTO pairs
SELECT t.id, t.other, shingle_similarity(t.body, d.body) FROM texts t JOIN docs d ON d.id = t.other
WHERE near_duplicate(t.body, d.body, 0.8);

-- On the coordinator: a document is a copy of the first before it that is no copy. In this order all is known of those before it.
DO $$
DECLARE
    pair record;
BEGIN
    FOR pair IN SELECT * FROM pairs ORDER BY other, id LOOP
        INSERT INTO copies SELECT pair.other, pair.id, pair.similarity
        WHERE NOT EXISTS (SELECT FROM copies WHERE id = pair.id) ON CONFLICT DO NOTHING;
    END LOOP;
END $$;
