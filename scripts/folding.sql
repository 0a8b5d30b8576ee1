-- Functions that make one word of what docs/fingerprints.md takes for several, or leave out what counts: for an index on an
-- expression, USING simhash (fold_han(body)), with WHERE fold_han(body) =~~ fold_han($1). TAP 025 runs them.
--
-- The functions need a database whose encoding is UTF8, as this file's is. Its locale says which characters are letters: in the
-- locale C only those of ASCII are, so join_hyphens() does not join "fü-" and "r".

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

-- A Kurdish ae that was typed as heh and U+200C, which separates words otherwise.
CREATE FUNCTION fold_kurdish(body text) RETURNS text IMMUTABLE STRICT PARALLEL SAFE
    RETURN replace(body, U&'\0647\200C', U&'\06D5');

-- A word that a hyphen cuts at a line's end, where a small letter follows: also "price-determining", and "Vor- und".
CREATE FUNCTION join_hyphens(body text) RETURNS text IMMUTABLE STRICT PARALLEL SAFE
    RETURN regexp_replace(body, '(?<=[[:alpha:]])[-‐][[:blank:]\r]*\n\s*(?=[[:lower:]])', '', 'g');

-- Marks of notes: [12], [3, 4], [5-7], and superscripts behind a letter or a sign, as in "word¹²"; also the 2 of m².
CREATE FUNCTION drop_notes(body text) RETURNS text IMMUTABLE STRICT PARALLEL SAFE
    RETURN regexp_replace(body, '\[\d{1,3}(\s?[-–,;]\s?\d{1,3})*\]|(?<=[[:alpha:].,;:!?)"”’])[¹²³⁰⁴⁵⁶⁷⁸⁹]+', ' ', 'g');

-- Numbers at the beginnings of lines.
CREATE FUNCTION drop_line_numbers(body text) RETURNS text IMMUTABLE STRICT PARALLEL SAFE
    RETURN regexp_replace(body, '^[[:blank:]]*\d+(?=[[:blank:]])', '', 'gn');

-- Tags, comments and entities of HTML and XML. Not of code, in which "a<b && c>d" looks like a tag.
CREATE FUNCTION drop_tags(body text) RETURNS text IMMUTABLE STRICT PARALLEL SAFE
    RETURN regexp_replace(body, '<[!?/]?[[:alpha:]-][^<>]*>|&#?\w+;', ' ', 'g');

-- Features of program code, for simhash_shingles_of(text[]): three tokens in a row, symbols among them.
CREATE FUNCTION code_shingles(body text) RETURNS text[] IMMUTABLE STRICT PARALLEL SAFE RETURN (
    SELECT array_agg(concat_ws(' ', token, second, third)) FROM (
        SELECT t[1] AS token, lead(t[1]) OVER (ORDER BY n) AS second, lead(t[1], 2) OVER (ORDER BY n) AS third, n
        FROM regexp_matches(body, '\w+|[^\w\s]', 'g') WITH ORDINALITY m (t, n)) s
    WHERE third IS NOT NULL OR n = 1);

-- A value of an enum type as a hash for simhash_of(bigint[], float8[]): its place among the type's values, in as few bits as the last
-- place needs, repeated over all 64 bits. So two values differ in every group of bits in which their places do.
CREATE FUNCTION enum_hash(value anyenum) RETURNS bigint LANGUAGE sql STABLE STRICT PARALLEL SAFE AS $$
    SELECT right(repeat(right((array_position(places, value) - 1)::bit(32)::text, bits), 64), 64)::bit(64)::bigint
    FROM (SELECT enum_range(value) AS places) r,
         LATERAL (SELECT greatest(1, length(ltrim((cardinality(places) - 1)::bit(32)::text, '0'))) AS bits) b
$$;
