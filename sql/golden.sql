-- Golden values: fingerprints are stored data. A change in this test's output is a breaking change: users'
-- columns and indexes hold these values, and a new text with the same words would no longer match them. No
-- release may change them; they are never just "expected output". So with sets of shingles and hashes of passages.
CREATE TABLE golden (id serial, document text);
INSERT INTO golden (document) VALUES
    ('a'),
    ('The quick brown fox jumps over the lazy dog'),
    ('THE QUICK -- brown fox; jumps over the LAZY dog!'),
    ('Permission is hereby granted, free of charge, to any person obtaining a copy of this software'),
    (repeat('to be or not to be ', 1000)),
    ('Falsches Üben von Xylophonmusik quält jeden größeren Zwerg'),
    (E'Portez ce vieux whisky au juge blond qui fume. De\u0301ja\u0300 vu, œuvre, \uFB01n, n\u00BA 5 \u00BD'),
    ('Ταχίστη αλώπηξ βαφής ψημένη γη, δρασκελίζει υπέρ νωθρού κυνός ΟΔΥΣΣΕΥΣ'),
    ('Съешь же ещё этих мягких французских булок, да выпей чаю'),
    ('Pijamalı hasta yağız şoföre çabucak güvendi İIıi'),
    ('נתראה מחר בבוקר ליד בית הקפה הישן'),
    ('صِف خَلقَ خَودِ كَمِثلِ الشَمسِ إِذ بَزَغَت'),
    ('ऋषियों को सताने वाले दुष्ट राक्षसों के राजा रावण का सर्वनाश'),
    ('เป็นมนุษย์สุดประเสริฐเลิศคุณค่า กว่าบรรดาฝูงสัตว์เดรัจฉาน'),
    ('天地玄黃 宇宙洪荒 日月盈昃 辰宿列張'),
    ('人人生而自由,在尊严和权利上一律平等。'),
    ('いろはにほへと ちりぬるを ﾊﾝｶｸｶﾞｷﾞｸﾞ ガギグ'),
    ('다람쥐 헌 쳇바퀴에 타고파'),
    (E'\u1112\u1161\u11AB\u1100\u1173\u11AF 자모'),
    ('👍🏽 👩‍👩‍👧 🇩🇪 ok'),
    ('PostgreSQL 15 でデータベースを作る 2024年'),
    ('3.14 1,000,000 ١٢٣ x86_64 user@example.org');
SELECT id, simhash_to_hex(simhash(document)) AS fingerprint,
       simhash_to_hex(simhash(document, weighting => 'log')) AS words,
       simhash_to_hex(simhash(document, 'words', 3, 'sqrt', 'fnv1')) AS shingles,
       simhash_to_hex(simhash(document, 'chars')) AS chars
FROM golden ORDER BY id;
SELECT simhash_to_hex(simhash(string_agg(document, ' ' ORDER BY id))) AS fingerprint,
       simhash_to_hex(simhash(string_agg(document, ' ' ORDER BY id), 'words', 2, 'binary')) AS words,
       simhash_to_hex(simhash_of(array_agg(document ORDER BY id), array_agg(id / 7.0 ORDER BY id))) AS given
FROM golden;
SELECT id, simhash_to_hex(minhash(document)) AS shingles, simhash_to_hex(minhash(document, width => 1)) AS words,
       simhash_to_hex(minhash(document, 'chars')) AS chars
FROM golden ORDER BY id;
SELECT id, simhash_to_hex(substring(code, 65, 64)::bigint) AS second, simhash_to_hex(substring(code, 129, 64)::bigint) AS third,
       simhash_to_hex(substring(code, 193, 64)::bigint) AS last
FROM golden, minhash_code(document, 256) AS code ORDER BY id;
SELECT simhash_to_hex(minhash(string_agg(document, ' ' ORDER BY id))) AS shingles,
       simhash_to_hex(minhash_of(array_agg(document ORDER BY id))) AS given,
       simhash_to_hex(minhash_of(array_agg(id))) AS hashes, simhash_to_hex(minhash_agg(document)) AS of_rows
FROM (SELECT id::bigint, document FROM golden) AS golden;
SELECT md5(passage_hashes(whole)::text) AS passages, md5(simhash_shingles(whole)::text) AS words,
       md5(simhash_shingles(whole, 'chars', 4)::text) AS chars
FROM (SELECT string_agg(document, ' ' ORDER BY id) AS whole FROM golden) AS golden;
-- A code point that Unicode 15.0 did not assign: no library's newer Unicode may change it.
SELECT simhash(U&'\+010D50\094D') AS unassigned;
DROP TABLE golden;
