# The same with asyncpg.
import asyncio
import asyncpg

HOUSE = "The boat house is closed from the first to the fifteenth of March for repairs of the roof."
PHASH = 0xd4c4b2a39b6a5937                      # a number from 0 to 2^64 - 1
PDQ = asyncpg.BitString.frombytes(bytes.fromhex("d4c4b2a39b6a5937" * 4))

async def main():
    connection = await asyncpg.connect()
    run, rows = connection.execute, connection.fetch

    # Documents. The constraint refuses near-duplicates; its index serves searches.
    await run("""CREATE TEMP TABLE pages (id integer PRIMARY KEY, body text,
                     CONSTRAINT no_copies EXCLUDE USING simhash (body WITH =~~))""")
    for id, body in (1, HOUSE), (2, HOUSE.upper()), (3, HOUSE.replace("March", "April")):
        inserted = await run("INSERT INTO pages VALUES ($1, $2) ON CONFLICT DO NOTHING", id, body)
        print("page", id, "inserted" if inserted == "INSERT 0 1" else "refused")
    for row in await rows("SELECT id FROM pages WHERE body =~~ $1", HOUSE):
        print("near-duplicate:", *row)
    for row in await rows("SELECT id FROM pages WHERE near_duplicate(body, $1, $2) ORDER BY id",
                          HOUSE, 0.6):
        print("similarity .6:", *row)
    for row in await rows("SELECT * FROM near_duplicate_pairs($1, $2)",
                          "SELECT id, body FROM pages", 0.6):
        print("pair: %s, %s, similarity %.2f" % tuple(row))

    # Hashes of pictures: within 8 bits of a fingerprint, nearest to a code, like one of several.
    await run("CREATE TEMP TABLE pictures (name text, phash bigint, pdq bit(256))")
    await run("CREATE INDEX pictures_phash ON pictures USING simhash (phash)")
    await run("CREATE INDEX pictures_pdq ON pictures USING simhash (pdq)")
    await run("INSERT INTO pictures VALUES ($1, simhash_from_unsigned($2), $3)",
              "boat.jpg", PHASH, PDQ)
    for row in await rows("""SELECT name, phash <~> q FROM pictures, simhash_from_unsigned($1) q
                             WHERE phash <~> q <= $2""", PHASH ^ 1, 8):
        print("%s: %s of 64 bits differ" % tuple(row))
    for name, phash, bits in await rows("""SELECT name, simhash_to_unsigned(phash), pdq
                                           FROM pictures ORDER BY pdq <~~> $1 LIMIT 1""", PDQ):
        print("nearest:", name, int(phash) == PHASH, bits.bytes == PDQ.bytes)
    for row in await rows("SELECT name FROM pictures WHERE pdq =~~ ANY ($1::bit(256)[])", [bits]):
        print("alike:", *row)

    # Lists of features
    for row in await rows("SELECT minhash_of($1::text[]) <~> minhash_of($2::text[])",
                          ["quick", "fox"], ["fox", "quick"]):
        print("lists: %s bits differ" % tuple(row))
    await connection.close()

asyncio.run(main())
