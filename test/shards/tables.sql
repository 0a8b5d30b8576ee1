-- What the forms of forms.sql ask about: :rows documents of ten tenants. Three of ten lie near
-- another one, one of a hundred has its text's fingerprint, some have none.
INSERT INTO docs
SELECT id, id % 10, body,
       CASE WHEN id % 997 = 0 THEN NULL
            WHEN id % 100 = 0 THEN simhash(body)
            WHEN id % 10 < 7 THEN hashint8extended(id, 7)
            ELSE hashint8extended(id - id % 10, 7) # (1::bigint << (id % 64)::integer) # (5::bigint << (id % 61)::integer) END
FROM generate_series(1, :rows) id,
     format('Report %s: the boat house of town %s is closed until day %s for repairs of the roof.', id / 300, id / 200, id / 400) body;
INSERT INTO queries
SELECT n, CASE WHEN n % 2 = 0 THEN hashint8extended(n * 11, 7) ELSE hashint8extended(n * 13 + 1, 7) # 3 END
FROM generate_series(1, 30) n;
