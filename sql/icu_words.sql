-- Words by dictionary, as features of the caller's own. (expected/icu_words_1.out: built without ICU)
SELECT icu_words('Hello, brave new world! 3.14', 'en');
SELECT icu_words('', 'en'), icu_words('...', 'en');
SELECT array_to_string(icu_words('สวัสดีชาวโลก', 'th'), '|');
SELECT simhash(icu_words('今天天气很好', 'zh')) IS NOT NULL AS ok;
