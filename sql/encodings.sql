-- The same fingerprint in every server encoding that can hold the text.
SELECT simhash_to_hex(simhash('Falsches Üben von Xylophonmusik quält jeden größeren Zwerg')) AS fingerprint,
       simhash_to_hex(simhash('größer Üben', 'words')) AS words, simhash_to_hex(simhash_hash('größer')) AS hash,
       shingle_similarity('größer als', 'GRÖSSER ALS', width => 1) AS similarity,
       minhash('Üben quält den größeren Zwerg') AS minhash \gset utf8_
SELECT simhash_to_hex(simhash('データベースを作る人と猫')) AS fingerprint, minhash('データベースを作る人と猫') AS minhash,
       (SELECT string_agg(feature, '|') FROM simhash_features('データベース')) AS features \gset utf8_ja_
SELECT passage_hashes(repeat('Üben quält den größeren Zwerg ', 4)) AS passages \gset utf8_
SELECT current_database() AS utf8_database \gset

CREATE DATABASE simhash_latin1 ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0;
\c simhash_latin1
SET client_min_messages = warning;
CREATE EXTENSION simhash;
SET client_encoding = 'UTF8';
SELECT simhash_to_hex(simhash('Falsches Üben von Xylophonmusik quält jeden größeren Zwerg')) = :'utf8_fingerprint' AS fingerprint,
       simhash_to_hex(simhash('größer Üben', 'words')) = :'utf8_words' AS words,
       simhash_to_hex(simhash_hash('größer')) = :'utf8_hash' AS hash,
       shingle_similarity('größer als', 'GRÖSSER ALS', width => 1) = :'utf8_similarity' AS similarity,
       minhash('Üben quält den größeren Zwerg') = :'utf8_minhash' AS minhash,
       minhash_agg(feature) = :'utf8_minhash' AS of_features
FROM simhash_features('Üben quält den größeren Zwerg', width => 3);
SELECT * FROM near_duplicate_pairs($$VALUES (1, 'Üben quält den größeren Zwerg'), (2, 'ÜBEN QUÄLT DEN GRÖSSEREN ZWERG!'), (3, 'Uben')$$);
SELECT passage_hashes(repeat('Üben quält den größeren Zwerg ', 4)) = :'utf8_passages' AS passages;
SELECT *, substr('Dort: üben quält Ærø', a_start, a_length) = passage AS in_a, substr('«Üben» quält!', b_start, b_length) AS in_b
FROM common_passages('Dort: üben quält Ærø', '«Üben» quält!', 2);
SELECT without_passages('Dort: üben quält Ærø «üben»', ARRAY['Üben', 'QUÄLT ÆRØ']) AS cut, passage_headline('«Ærø» üben & quält', 'Übe. Üben quält', 2, 'StartSel=«, StopSel=», EscapeHtml=1') AS headline,
       shared_passages_agg(body, 2, NULL, 2 ORDER BY body DESC) AS shared FROM (VALUES ('Ö: üben quält Ærø'), ('Ä Üben quält')) v(body);
-- More than one slice; features come back in the server's encoding.
SELECT simhash(repeat('größeren Zwerg ', 100000)) IS NOT NULL AS long;
SELECT * FROM simhash_features('Ünter ÄÖ');
-- Normalisation makes characters of them that LATIN1 lacks: these are shown by their code points.
SELECT c, count(feature) AS features, string_agg(feature, ',') AS shown
FROM unnest(string_to_array('µ ´ ¸ ¯ ¨ ª º ² ½ ÿ ß', ' ')) c LEFT JOIN simhash_features('5' || c || 'm') ON true
GROUP BY c ORDER BY c COLLATE "C";
SELECT * FROM simhash_features('5 µm, 5 µm ± ½ ´acute', 'words', 2);
SELECT string_agg(feature, '|') FROM simhash_features('5µ´', 'chars', 2);
-- Whatever simhash() takes can be looked at.
SELECT count(*) AS characters, count(*) FILTER (WHERE simhash(of_it) IS NOT NULL) AS have_fingerprints,
       count(*) FILTER (WHERE (simhash(of_it) IS NULL) <> (shown IS NULL)) AS wrong
FROM (SELECT of_it, (SELECT string_agg(feature, '|') FROM simhash_features(of_it)) AS shown
      FROM (SELECT convert_from(set_byte('\x41', 0, i), 'LATIN1') AS of_it FROM generate_series(1, 255) i) t) s;

\c :utf8_database
CREATE DATABASE simhash_euc_jp ENCODING 'EUC_JP' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0;
\c simhash_euc_jp
SET client_min_messages = warning;
CREATE EXTENSION simhash;
SET client_encoding = 'UTF8';
SELECT simhash_to_hex(simhash('データベースを作る人と猫')) = :'utf8_ja_fingerprint' AS fingerprint,
       minhash('データベースを作る人と猫') = :'utf8_ja_minhash' AS minhash,
       (SELECT string_agg(feature, '|') FROM simhash_features('データベース')) = :'utf8_ja_features' AS features,
       simhash(repeat('データベース', 100000)) IS NOT NULL AS long;
SELECT *, substr('x データ、ベースを', a_start, a_length) = passage AS in_a, substr('(データ) y ベース', b_start, b_length) AS in_b
FROM common_passages('x データ、ベースを', '(データ) y ベース', 2);
SELECT without_passages('x データ、ベースを作る人', ARRAY['データベース']) AS cut, without_passages('大データ都aデータb', ARRAY['データ']) AS apart, without_passages('大。データ都', ARRAY['データ']) AS by_itself, passage_headline('猫データ、ベースを', '(データ) y ベース', 2) AS headline,
       shared_passages_agg(body, 2, NULL, 2) AS shared FROM (VALUES ('x データ、ベース'), ('データベース')) v(body);

\c :utf8_database
CREATE DATABASE simhash_euc_jis_2004 ENCODING 'EUC_JIS_2004' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0;
\c simhash_euc_jis_2004
SET client_min_messages = warning;
CREATE EXTENSION simhash;
SET client_encoding = 'UTF8';
-- A kana with its mark is one character of this encoding, and two code points.
SELECT char_length(word) AS characters, octet_length(convert(convert_to(word, 'EUC_JIS_2004'), 'EUC_JIS_2004', 'UTF8')) AS bytes_of_utf8,
       a_start, a_length, b_start, b_length, words, passage, substr('x ' || word || ' ab か ' || word, a_start, a_length) = passage AS in_a
FROM (SELECT convert_from('\xe3818be3829a', 'UTF8') AS word) w, common_passages('x ' || word || ' ab c ' || word, 'ab c ' || word || '!', 2);
SELECT without_passages('x ' || word || ' ab c' || word || 'd', ARRAY['ab', word]) AS cut, passage_headline('x ' || word || ' ab', word || ' ab', 2) AS headline
FROM (SELECT convert_from('\xe3818be3829a', 'UTF8') AS word) w;

\c :utf8_database
CREATE DATABASE simhash_sql_ascii ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0;
\c simhash_sql_ascii
SET client_min_messages = warning;
CREATE EXTENSION simhash;
-- Bytes of an unknown encoding are read as UTF-8; what is not, separates words.
SELECT simhash_to_hex(simhash('Falsches Üben von Xylophonmusik quält jeden größeren Zwerg')) = :'utf8_fingerprint' AS fingerprint,
       simhash(E'one\xff\xfetwo', 'words') = simhash('one two', 'words') AS separated;
SELECT simhash(convert_from('\x414243c3', 'SQL_ASCII')) IS NOT NULL AS truncated;
-- Here substr() counts bytes.
SELECT *, substr(E'\xff Üben quält', a_start, a_length) = passage AS in_a, substr('Üben quält', b_start, b_length) AS in_b
FROM common_passages(E'\xff Üben quält', 'Üben quält', 2);
SELECT without_passages(E'\xff Üben quält \xfeü', ARRAY['Üben quält']) = E'\xff  \xfeü' AS cut, passage_headline(E'\xff Üben quält \xfeü', 'Üben quält', 2) = E'\xff <b>Üben quält</b> \xfeü' AS headline,
       without_passages('ü東京ü', ARRAY['東京']) = 'ü ü' AS apart;

\c :utf8_database
DROP DATABASE simhash_latin1;
DROP DATABASE simhash_euc_jp;
DROP DATABASE simhash_euc_jis_2004;
DROP DATABASE simhash_sql_ascii;
