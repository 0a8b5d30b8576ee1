-- Words of every script: what may be written in several ways makes no difference (docs/fingerprints.md, "Words and
-- characters"). Of one text each pair has the similarity 1, and one fingerprint of each kind.
CREATE TABLE spelling (kind text, one text, other text);
INSERT INTO spelling VALUES
    ('Chinese, other commas', '人人生而自由,在尊严和权利上一律平等。他们赋有理性和良心,并应以兄弟关系的精神相对待。',
     '人人生而自由，在尊严和权利上一律平等．他们赋有理性和良心、并应以兄弟关系的精神相对待'),
    ('Chinese, no punctuation', '人人生而自由,在尊严和权利上一律平等。他们赋有理性和良心。', '人人生而自由在尊严和权利上一律平等他们赋有理性和良心'),
    ('Chinese, blanks between characters', '人人生而自由', '人 人 生　而 自 由'),
    ('Chinese, blanks beside Latin', '用PostgreSQL 15存储文本', '用 PostgreSQL 15 存储文本'),
    ('Japanese, brackets', '東京（とうきょう）の「天気」は晴れ', '東京 とうきょう の天気は晴れ'),
    ('Japanese, Markdown', E'# 東京の天気\n\n**晴れ**のち*曇り*', '東京の天気 晴れのち曇り'),
    ('Japanese, halfwidth', 'データベース', 'ﾃﾞｰﾀﾍﾞｰｽ'),
    ('Thai, blanks', 'มนุษย์ทั้งหลายเกิดมามีอิสระ', 'มนุษย์ ทั้งหลาย เกิด มา มี อิสระ'),
    ('keycaps', 'step 1 and 2', U&'step 1\FE0F\20E3 and 2\20E3'),
    ('emoji, skin tones', 'well done 👍👍', U&'well done \+01F44D\+01F3FD\+01F44D'),
    ('French, accents lost', 'Où est passé le garçon à l''œil noir ?', 'Ou est passe le garcon a l''oeil noir'),
    ('Vietnamese, accents lost', 'Được sinh ra tự do và bình đẳng', 'Duoc sinh ra tu do va binh dang'),
    ('Polish, accents lost', 'Zażółć gęślą jaźń, Łódź', 'Zazolc gesla jazn, Lodz'),
    ('Turkish, capitals', 'Işık ve ısı, İstanbul''da iki gün', 'IŞIK VE ISI, İSTANBUL''DA İKİ GÜN'),
    ('Turkish, accents lost', 'Işık ve ısı, İstanbul''da iki gün', 'Isik ve isi, Istanbul''da iki gun'),
    ('Greek, capitals', 'Όλοι οι άνθρωποι γεννιούνται ελεύθεροι, ίσοι και αξιοπρεπείς',
     'ΟΛΟΙ ΟΙ ΑΝΘΡΩΠΟΙ ΓΕΝΝΙΟΥΝΤΑΙ ΕΛΕΥΘΕΡΟΙ, ΙΣΟΙ ΚΑΙ ΑΞΙΟΠΡΕΠΕΙΣ'),
    ('Greek, capitals with tonos', 'άνθρωπος', 'ΆΝΘΡΩΠΟΣ'),
    ('Russian, ё and й', 'Всё ещё идёт дождь, ёжик мой', U&'Все еще идет дождь, ежик мои\0306'),
    ('Ukrainian, apostrophes', 'п''ять м''ячів', U&'п\02BCять м\2019ячів'),
    ('Hawaiian and Uzbek, apostrophes', 'Hawai''i o''zbek', U&'Hawai\02BBi o\02BCzbek'),
    ('Arabic, vowel signs', 'كِتَابٌ جَدِيدٌ فِي المَكْتَبَةِ', 'كتاب جديد في المكتبة'),
    ('Arabic, tatweel', 'كتـــاب جديـــد', 'كتاب جديد'),
    ('Arabic, hamza', 'أحمد إلى آخر ٱلكتاب', 'احمد الى اخر الكتاب'),
    ('Arabic, kaf and yeh of Persian', 'كتاب علي في المكتبة', 'کتاب علی فی المکتبه'),
    ('Persian, heh with yeh', 'خانۀ ما', 'خانه ما'),
    ('Hebrew, points', 'בְּרֵאשִׁית בָּרָא אֱלֹהִים', 'בראשית ברא אלהים'),
    ('signs of rights', 'Acme™ Widget® © 2024', 'Acme Widget 2024');
SELECT kind, shingle_similarity(one, other, width => 1) AS words, shingle_similarity(one, other) AS shingles,
       shingle_similarity(one, other, 'chars') AS chars, one =~~ other AS near_duplicate,
       minhash(one) = minhash(other) AND simhash(one) = simhash(other) AND simhash(one, 'chars') = simhash(other, 'chars') AS same
FROM spelling;

-- A wrapped text has the words of the text, wherever it is cut.
WITH wrapped AS (
    SELECT kind, columns, t, regexp_replace(t, format('.{%s}', columns), E'\\&\n', 'g') AS lines
    FROM (VALUES ('Chinese', repeat('人人生而自由,在尊严和权利上一律平等。他们赋有理性和良心,并应以兄弟关系的精神相对待。', 3)),
                 ('Japanese', repeat('すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。', 3)),
                 ('Thai', repeat('มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ ต่างมีเหตุผลและมโนธรรม', 3))) AS texts (kind, t),
         generate_series(16, 40) AS columns)
SELECT kind, count(DISTINCT lines), min(shingle_similarity(t, lines)) AS shingles, min(shingle_similarity(t, lines, 'chars')) AS chars,
       bool_and(t =~~ lines) AS near_duplicates
FROM wrapped GROUP BY kind ORDER BY kind;

-- What does count.
SELECT kind, shingle_similarity(one, other, width => 1) AS words
FROM (VALUES ('a word between', '東京', '東 A 京'), ('a number between', '東京', '東1京'), ('a pictograph between', '東京', '東⭐京'),
             ('voicing marks of Kana', 'がき', 'かき'), ('vowel signs of Thai', 'กิน', 'กน'), ('vowel signs of Devanagari', 'कि', 'क'),
             ('dots of Arabic letters', 'بت', 'تب'), ('traditional Han', '漢語', '汉语'), ('Kana', 'カナ', 'かな'),
             ('Arabic digits', '١٢', '12'), ('a flag', '🇩🇪', '🇫🇷')) AS v (kind, one, other);
SELECT kind, (SELECT string_agg(feature, '|') FROM simhash_features(t)) AS words
FROM (VALUES ('alone between words', '在 Linux 上 运行 B 型'), ('a list', E'1. 東京\n2. 京都\n3. 大阪'), ('pictographs', '⭐⭐☎ ↔ ⌛🫩🇩🇪 ok'),
             ('punctuation that looks like one', 'wow‼ what⁉'), ('nothing', U&'\02BC \0301 \0640 \20E3 ©')) AS v (kind, t);

-- A text of pictographs has a fingerprint, and a constraint keeps the second out.
CREATE TABLE post (body text, EXCLUDE USING simhash (body WITH =~~));
INSERT INTO post VALUES ('⭐⭐⭐⭐⭐');
INSERT INTO post VALUES ('⭐ ⭐ ⭐ ⭐ ⭐!') ON CONFLICT DO NOTHING;
INSERT INTO post VALUES ('🇩🇪🇩🇪🇩🇪🇩🇪') ON CONFLICT DO NOTHING;
SELECT * FROM post;

DROP TABLE spelling, post;
