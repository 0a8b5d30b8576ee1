# Near-duplicates of documents and of hashes of pictures, with psycopg 3. Prints output.txt.
# docs/programs.md says what to send.
import psycopg

HOUSE = "The boat house is closed from the first to the fifteenth of March for repairs of the roof."
PHASH = 0xd4c4b2a39b6a5937                      # a number from 0 to 2^64 - 1
PDQ = bytes.fromhex("d4c4b2a39b6a5937" * 4)     # 256 bits

with psycopg.connect(autocommit=True) as connection:
    run = connection.execute

    # Documents. The constraint refuses near-duplicates; its index serves searches.
    run("""CREATE TEMP TABLE pages (id integer PRIMARY KEY, body text,
               CONSTRAINT no_copies EXCLUDE USING simhash (body WITH =~~))""")
    for id, body in (1, HOUSE), (2, HOUSE.upper()), (3, HOUSE.replace("March", "April")):
        inserted = run("INSERT INTO pages VALUES (%s, %s) ON CONFLICT DO NOTHING", (id, body))
        print("page", id, "inserted" if inserted.rowcount else "refused")
    for row in run("SELECT id FROM pages WHERE body =~~ %s", (HOUSE,)):
        print("near-duplicate:", *row)
    for row in run("SELECT id FROM pages WHERE near_duplicate(body, %s, %s) ORDER BY id",
                   (HOUSE, 0.6)):
        print("similarity .6:", *row)
    for row in run("SELECT * FROM near_duplicate_pairs(%s, %s)",
                   ("SELECT id, body FROM pages", 0.6)):
        print("pair: %s, %s, similarity %.2f" % row)

    # Hashes of pictures: within 8 bits of a fingerprint, nearest to a code, like one of several.
    run("CREATE TEMP TABLE pictures (name text, phash bigint, pdq bit(256))")
    run("CREATE INDEX pictures_phash ON pictures USING simhash (phash)")
    run("CREATE INDEX pictures_pdq ON pictures USING simhash (pdq)")
    run("INSERT INTO pictures VALUES (%s, simhash_from_unsigned(%s), code_from_hex(%s))",
        ("boat.jpg", PHASH, PDQ.hex()))
    for row in run("""SELECT name, phash <~> q FROM pictures, simhash_from_unsigned(%s) q
                      WHERE phash <~> q <= %s""", (PHASH ^ 1, 8)):
        print("%s: %s of 64 bits differ" % row)
    for name, phash, bits in run("""SELECT name, simhash_to_unsigned(phash), pdq FROM pictures
                                    ORDER BY pdq <~~> code_from_hex(%s) LIMIT 1""", (PDQ.hex(),)):
        print("nearest:", name, int(phash) == PHASH, int(bits, 2).to_bytes(32, "big") == PDQ)
    for row in run("SELECT name FROM pictures WHERE pdq =~~ ANY (%s::bit(256)[])", ([bits],)):
        print("alike:", *row)

    # Lists of features: psycopg sends strings without a type.
    for row in run("SELECT minhash_of(%s::text[]) <~> minhash_of(%s::text[])",
                   (["quick", "fox"], ["fox", "quick"])):
        print("lists: %s bits differ" % row)
