-- What documents share: without_passages, shared_passages_agg, passage_headline, repeated_passages.
\pset null NULL

-- The cut goes from the first character of the first word to the last one of the last word. All else stays, byte for byte.
SELECT without_passages(E'\tHome | Contact\n\nThe ferry runs.\r\n(c) All rights reserved!  ', ARRAY['home contact', 'ALL rights, reserved']);
-- Where words would become one, a blank stands between them. White space and punctuation are enough by themselves.
SELECT given, without_passages(given, ARRAY['😀', '東京', 'the end']) FROM (VALUES ('a😀b'), ('a 😀b'), ('a😀.b'), ('😀b'), ('a😀'), ('ab東京cd'),
       ('大東京都'), ('大。東京。都'), ('a😀😀b😀'), ('a the end b'), ('a,the end,b')) v(given);
-- By runs of so many words; a shorter passage as a whole; all occurrences, also those that overlap.
SELECT words, without_passages('z one two three four, two three. Four five one TWO', ARRAY['one two three four five'], words) FROM generate_series(1, 6) words;
SELECT without_passages('a b c x b c', ARRAY['B C'], 16) AS whole, without_passages('a b', ARRAY['b a'], 2) AS other_order, without_passages('a b a b a', ARRAY['a b a']) AS overlap,
       without_passages('a b c d', ARRAY['a b', 'c d'], 3) AS two, without_passages('a b c d', ARRAY['x a b', 'c d x'], 3) AS not_of_two;
SELECT without_passages(NULL, ARRAY['a']), without_passages('a', NULL) AS no_passages, without_passages('a', '{}') AS no_elements, without_passages('a b', ARRAY[NULL, '', '?', 'b']) AS some,
       without_passages('', ARRAY['a']) AS empty, without_passages('a', ARRAY['A']) AS all_of_it, without_passages('a', ARRAY['a'], NULL) AS words_by_default;
SELECT without_passages('a', ARRAY['a'], 0);
SELECT without_passages('a', ARRAY[['a']]);
-- Characters that are several bytes, several code points, or several words.
SELECT without_passages('é Ölçü 東京都に x', ARRAY['OLCU', '京都に']), without_passages(U&'a Cafe\0301 \00e9t\00e9', ARRAY['cafe ete']) = 'a ' AS marks, without_passages(U&'a \FDFA b', ARRAY[U&'\FDFA']) = 'a  b' AS four_words,
       without_passages(U&'\+01f600 b\00ad c', ARRAY['b c']) = U&'\+01f600 ' AS soft_hyphen;

-- Words beside a word that stays may touch each other, or be one character.
SELECT passage_headline('甲乙丙丁', '甲乙 x 丙丁', 1), without_passages('x甲乙丙丁y', ARRAY['甲乙', '丙丁']) AS touching, without_passages(U&'a \FDFA b', ARRAY['صلى', 'عليه']) = 'a  b' AS two_of_four,
       passage_headline(U&'a \FDFA b', 'صلى x عليه', 1, 'StartSel=[, StopSel=]') = U&'a [\FDFA] b' AS marked_once;

-- Nothing is left of a passage, and all else of the text is left: against brute force, on texts of few words and many scripts.
CREATE FUNCTION words_of(text) RETURNS text[] LANGUAGE sql IMMUTABLE AS $$SELECT coalesce(array_agg(w ORDER BY i), '{}') FROM unnest(regexp_split_to_array(translate(trim(both ' .,' from $1), 'ÄБCÉ', 'äбcé'), '[ .,]+')) WITH ORDINALITY u(w, i) WHERE w <> ''$$;
CREATE FUNCTION cut_by_hand(body text[], passages text[], words int) RETURNS text[] LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE is_cut boolean[] := array_fill(false, ARRAY[cardinality(body)]); passage text; p text[]; n int;
BEGIN
    FOREACH passage IN ARRAY passages LOOP
        p := words_of(passage);
        n := least(words, cardinality(p));
        FOR i IN 1 .. cardinality(body) - n + 1 LOOP
            FOR j IN 1 .. cardinality(p) - n + 1 LOOP
                IF n > 0 AND body[i:i + n - 1] = p[j:j + n - 1] THEN is_cut[i:i + n - 1] := array_fill(true, ARRAY[n]); END IF;
            END LOOP;
        END LOOP;
    END LOOP;
    RETURN ARRAY(SELECT w FROM unnest(body, is_cut) u(w, c) WHERE NOT c);
END $$;
CREATE TABLE cut_texts AS
SELECT i, 1 + i % 4 AS words, (SELECT string_agg((ARRAY['ä', 'б', 'c', '가', 'é'])[1 + abs(hashint4extended(i * 100 + j, 1) % 5)]
               || (ARRAY[' ', '. ', ', '])[1 + abs(hashint4extended(i * 100 + j, 2) % 3)], '' ORDER BY j) FROM generate_series(1, 30) j) AS body,
       ARRAY(SELECT (SELECT string_agg((ARRAY['Ä', 'Б', 'C', '가', 'É'])[1 + abs(hashint4extended(i * 100 + k * 10 + j, 3) % 5)], ' ') FROM generate_series(1, 1 + (i + k) % 7) j) FROM generate_series(1, 3) k) AS passages
FROM generate_series(1, 500) i;
SELECT count(*) AS texts, count(*) FILTER (WHERE words_of(cut) <> cut_by_hand(words_of(body), passages, words)) AS wrong, count(*) FILTER (WHERE cut <> body AND words_of(cut) <> '{}') AS cut_in_part
FROM (SELECT *, without_passages(body, passages, words) AS cut FROM cut_texts) t;
DROP FUNCTION cut_by_hand, words_of;

-- ts_headline's manner; what is marked is what without_passages() cuts.
SELECT passage_headline('The Boat House, is closed in March', 'the boat: house is CLOSED', 3) AS by_default,
       passage_headline('The Boat House, is closed in March', 'boat house', 3) AS none,
       passage_headline('a b. a B! a', 'A b', 2, 'StartSel = "[ ", StopSel=]') AS every_one,
       passage_headline('大東京都に', '東京都', 2, 'startsel=<i>, STOPSEL=</i>') AS chinese;
SELECT passage_headline('if (a < b && "c" > ''d'') <script>', 'a b c', 2, 'EscapeHtml=true') AS escaped, passage_headline('<b>a b</b>', 'a b', 2) AS as_it_is,
       passage_headline('<', '', 1, 'EscapeHtml=on, StartSel="<"') AS no_words;
SELECT passage_headline(NULL, 'a'), passage_headline('a', NULL), passage_headline('', '');
SELECT passage_headline('a', 'a', 0);
SELECT passage_headline('a', 'a', 1, 'MaxWords=3');
SELECT passage_headline('a', 'a', 1, 'EscapeHtml=maybe');
SELECT passage_headline('a', 'a', 1, 'StartSel');
SELECT count(*) AS texts, count(*) FILTER (WHERE regexp_replace(marked, '\[[^]]*\]', '', 'g') <> without_passages(body, passages[1:1], words)) AS wrong,
       count(*) FILTER (WHERE translate(marked, '[]', '') <> body) AS changed, count(*) FILTER (WHERE marked <> body) AS marked
FROM (SELECT *, passage_headline(body, passages[1], words, 'StartSel=[, StopSel=]') AS marked FROM cut_texts WHERE words < 3) t
WHERE array_length(regexp_split_to_array(passages[1], ' '), 1) >= words;
DROP TABLE cut_texts;

-- Repeats within a text, and where they stand first.
SELECT *, substr(body, start, length) = passage AS here, substr(body, first_start, first_length) AS first
FROM (SELECT 'Ölçü: boat house is shut. Again the boat HOUSE is shut; Boat, house is!' AS body) t, repeated_passages(body, 2);
SELECT start, length, first_start, first_length, words FROM repeated_passages('ha ha ha ha', 1);
SELECT passage, first_start FROM repeated_passages('東京都。京都', 1);
SELECT count(*) FROM repeated_passages('a b c d', 1);
SELECT count(*) FROM repeated_passages('', 1);
SELECT count(*) FROM repeated_passages(NULL, 1);
SELECT * FROM repeated_passages('a', -1);
SELECT start, length, first_start, words FROM (SELECT string_agg(i::text, ' ') AS t FROM generate_series(1, 50000) i) s, repeated_passages(t || ' x ' || t);

-- What documents share. Each run of words is given once, where it stands first.
CREATE TABLE pages (id int PRIMARY KEY, site text, body text);
INSERT INTO pages VALUES
(1, 'a', 'Home one two. The ferry runs in March only; Copyright: 2024 all rights reserved.'),
(2, 'a', 'HOME one, two: people came. Copyright 2024 all rights reserved'),
(3, 'a', E'home one two\nit rains today and the ferry runs. copyright 2024\nall rights\nRESERVED'),
(4, 'b', 'nothing'), (5, 'b', NULL), (6, 'c', '首页联系我们。今天下雨。版权所有'), (7, 'c', '首页联系我们。今天天气很好。版权所有');
SELECT site, shared_passages_agg(body, 2, NULL, 3 ORDER BY id) AS of_two, shared_passages_agg(body, 3, NULL, 3 ORDER BY id) AS of_three, shared_passages_agg(body, 2, 2, 3 ORDER BY id) AS of_two_only
FROM pages GROUP BY site ORDER BY site;
SELECT id, without_passages(body, (SELECT shared_passages_agg(body, 2, NULL, 3) FROM pages o WHERE o.site = p.site), 3) FROM pages p ORDER BY id;
SELECT shared_passages_agg(body) AS by_default, shared_passages_agg(body, NULL, NULL, NULL) AS of_nulls, shared_passages_agg(body, 1, NULL, 20) AS too_long, shared_passages_agg(body, 3, 2, 1) AS most_below_least FROM pages;
SELECT shared_passages_agg(body, 2, NULL, 2 ORDER BY body) AS of_two_documents, shared_passages_agg(body, 4, NULL, 1) AS not_by_repeats
FROM (VALUES ('a b c a b c a. Q w'), ('b x y c, y z'), ('b x y! y z. q W')) t(body);
SELECT shared_passages_agg(body) AS no_rows FROM pages WHERE false;
SELECT shared_passages_agg(body, 0) FROM pages;
SELECT shared_passages_agg(body, id) FROM pages;
SELECT shared_passages_agg(body) OVER () FROM pages;

-- The recipe of docs/passages.md, "What all pages of a site share": of each page its own words are left, as they were.
CREATE TABLE articles (site text, own text, body text);
INSERT INTO articles
SELECT site, own, replace(replace(body, '@', own), '#', CASE WHEN site = 'other case' AND i = 2 THEN upper(footer) WHEN site = 'wrapped' AND i > 1 THEN replace(footer, CASE i WHEN 2 THEN ' rights ' ELSE ' part ' END, CASE i WHEN 2 THEN E'\n\trights ' ELSE E' part\r\n' END) ELSE footer END)
FROM (SELECT *, format(E'%s: «ö»\n  has its own\twords %s. ', md5(site || i), md5(i || site)) AS own,
             'Home, contact, imprint: all rights reserved, no part of this page may be copied without consent of the publisher' AS footer
      FROM (VALUES ('footer', '@#'), ('header and footer', 'News, weather, sports, letters, recipes, shops, cinema, theatre, jobs, cars, flats, boats, travel, books, maps, archive. @#'),
                   ('three passages', 'News weather sports letters recipes shops cinema theatre jobs cars flats boats travel books maps archive | @# | ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn'),
                   ('none', '@'), ('wrapped', '@#'), ('other case', '@#'), ('other punctuation', '@#')) v(site, body), generate_series(1, 3) i) t;
UPDATE articles SET body = replace(body, ', no part', ' - «no» part') WHERE site = 'other punctuation' AND own LIKE md5('other punctuation2') || '%';
INSERT INTO articles SELECT '中文', own, '首页、新闻、天气、体育、信件、食谱、商店、电影、戏剧。' || own || E'版权所有，未经出版者同意\n不得复制本页任何部分，谢谢您。'
FROM (VALUES ('议会星期一决定关闭船屋'), ('今天下雨'), ('渡船停航')) v(own);
SELECT site, count(*) AS pages, count(*) FILTER (WHERE body = own) AS whole, min(replace(cut, own, '@')) AS cut, max(replace(cut, own, '@')) AS last_cut
FROM (SELECT site, body, own, without_passages(body, (SELECT shared_passages_agg(body, 3) FROM articles o WHERE o.site = a.site)) AS cut FROM articles a) s
GROUP BY site ORDER BY site;
DROP TABLE articles;

-- The same when the documents and their hashes go to files.
INSERT INTO pages SELECT i, 'd', 'Header of all the pages, the same. ' || (SELECT string_agg(md5((i * 50 + j)::text), ' ') FROM generate_series(1, 40) j) || ' Footer of the pages: no rights.' FROM generate_series(10, 3000) i;
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SELECT shared_passages_agg(body, 2900, NULL, 5 ORDER BY id), shared_passages_agg(body, 1, 1, 5) = '{}' AS of_one FROM pages WHERE site = 'd';
SELECT cardinality(shared_passages_agg(body, 2, NULL, 3)) FROM pages;
RESET work_mem;
RESET hash_mem_multiplier;
SELECT count(*) FILTER (WHERE cut LIKE '%eader%' OR cut LIKE '%rights%') AS left_over, count(*) FILTER (WHERE length(cut) <> 40 * 33 + 3) AS other
FROM (SELECT without_passages(body, (SELECT shared_passages_agg(body, 100, NULL, 5) FROM pages WHERE site = 'd'), 5) AS cut FROM pages WHERE site = 'd') s;
DROP TABLE pages;
