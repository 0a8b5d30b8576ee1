-- Functions that make one word of what docs/fingerprints.md takes for several: for an index on an expression, USING simhash
-- (fold_han(body)), with WHERE fold_han(body) =~~ fold_han($1). TAP 025 runs them.

-- Traditional and simplified Han; the whole list is Unihan's kSimplifiedVariant, or OpenCC's. translate() searches its list from the
-- beginning for each character of the text: put the frequent ones of a long list first.
CREATE FUNCTION fold_han(body text) RETURNS text IMMUTABLE STRICT PARALLEL SAFE
    RETURN translate(body, '們學習漢語時間長', '们学习汉语时间长');

-- Katakana and Hiragana.
CREATE FUNCTION fold_kana(body text) RETURNS text IMMUTABLE STRICT PARALLEL SAFE
    RETURN translate(body,
        'ァアィイゥウェエォオカガキギクグケゲコゴサザシジスズセゼソゾタダチヂッツヅテデトドナニヌネノハバパヒビピフブプヘベペホボポマミムメモャヤュユョヨラリルレロヮワヰヱヲンヴヵヶ',
        'ぁあぃいぅうぇえぉおかがきぎくぐけげこごさざしじすずせぜそぞただちぢっつづてでとどなにぬねのはばぱひびぴふぶぷへべぺほぼぽまみむめもゃやゅゆょよらりるれろゎわゐゑをんゔゕゖ');

-- Korean spacing: each syllable becomes a word.
CREATE FUNCTION fold_korean(body text) RETURNS text IMMUTABLE STRICT PARALLEL SAFE
    RETURN regexp_replace(body, '([가-힣])', ' \1 ', 'g');

-- Any number for any other.
CREATE FUNCTION mask_numbers(body text) RETURNS text IMMUTABLE STRICT PARALLEL SAFE
    RETURN regexp_replace(body, '[0-9]+', '0', 'g');

-- Digits of other scripts, here Arabic and Persian ones.
CREATE FUNCTION fold_digits(body text) RETURNS text IMMUTABLE STRICT PARALLEL SAFE
    RETURN translate(body, '٠١٢٣٤٥٦٧٨٩۰۱۲۳۴۵۶۷۸۹', '01234567890123456789');
