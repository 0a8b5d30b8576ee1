-- Words by dictionary, as features of the caller's own. (expected/icu_words_1.out: built without ICU)
SELECT icu_words('Hello, brave new world! 3.14', 'en');
SELECT icu_words('', 'en'), icu_words('...', 'en');
SELECT array_to_string(icu_words('สวัสดีชาวโลก', 'th'), '|');
SELECT simhash_of(icu_words('今天天气很好', 'zh')) IS NOT NULL AS ok;
-- Locales: a language that ICU knows, or none in particular; a misspelt name is not taken for none.
SELECT locale, icu_words('a b', locale)
FROM unnest(ARRAY['', 'root', 'und', 'th', 'en_US', 'zh-Hant-TW', 'ja@lb=strict', 'und-u-lb-strict']) locale;
SELECT icu_words('a', 'not_a_locale!!');
\echo :LAST_ERROR_SQLSTATE
SELECT icu_words('a', 'english');
SELECT icu_words('a', 'C');
SELECT icu_words('a', 'muchtoolongforalanguage');
-- A long document, which ICU gets in pieces, has the words of a short one; a longer word than a piece is divided.
SELECT array_to_string(icu_words(repeat('สวัสดีชาวโลก 今天天气很好, ', 10000), 'th') || ''::text, '|') =
       repeat(array_to_string(icu_words('สวัสดีชาวโลก 今天天气很好, ', 'th') || ''::text, '|'), 10000) AS same;
SELECT run, (SELECT array_agg(DISTINCT word) FROM unnest(icu_words(repeat(run, 20000), 'th')) word) =
            (SELECT array_agg(DISTINCT word) FROM unnest(icu_words(repeat(run, 20), 'th')) word) AS same_words
FROM unnest(ARRAY['สวัสดีชาวโลก', '今天天气很好', 'カタカナテスト']) run;
SELECT length(word), word = repeat('ä', length(word)) AS of_it FROM unnest(icu_words(repeat('ä', 50000), 'en')) word;
