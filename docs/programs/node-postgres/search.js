// The same with node-postgres.
const { Client } = require('pg');

const HOUSE =
    'The boat house is closed from the first to the fifteenth of March for repairs of the roof.';
const PHASH = 0xd4c4b2a39b6a5937n;              // a number from 0 to 2^64 - 1
const PDQ = Buffer.from('d4c4b2a39b6a5937'.repeat(4), 'hex');

async function main() {
    const client = new Client();
    await client.connect();
    const run = (statement, ...values) => client.query(statement, values);
    const rows = async (...query) => (await run(...query)).rows;

    // Documents. The constraint refuses near-duplicates; its index serves searches.
    await run(`CREATE TEMP TABLE pages (id integer PRIMARY KEY, body text,
                   CONSTRAINT no_copies EXCLUDE USING simhash (body WITH =~~))`);
    const pages = [[1, HOUSE], [2, HOUSE.toUpperCase()], [3, HOUSE.replace('March', 'April')]];
    for (const page of pages) {
        const inserted = await run('INSERT INTO pages VALUES ($1, $2) ON CONFLICT DO NOTHING',
                                   ...page);
        console.log('page', page[0], inserted.rowCount ? 'inserted' : 'refused');
    }
    for (const row of await rows('SELECT id FROM pages WHERE body =~~ $1', HOUSE))
        console.log('near-duplicate:', row.id);
    for (const row of await rows(`SELECT id FROM pages WHERE near_duplicate(body, $1, $2)
                                  ORDER BY id`, HOUSE, 0.6))
        console.log('similarity .6:', row.id);
    for (const row of await rows('SELECT * FROM near_duplicate_pairs($1, $2)',
                                 'SELECT id, body FROM pages', 0.6))
        console.log(`pair: ${row.id}, ${row.other}, similarity ${row.similarity.toFixed(2)}`);

    // Hashes of pictures: within 8 bits of a fingerprint, nearest to a code, like one of several.
    await run('CREATE TEMP TABLE pictures (name text, phash bigint, pdq bit(256))');
    await run('CREATE INDEX pictures_phash ON pictures USING simhash (phash)');
    await run('CREATE INDEX pictures_pdq ON pictures USING simhash (pdq)');
    await run('INSERT INTO pictures VALUES ($1, simhash_from_unsigned($2), code_from_hex($3))',
              'boat.jpg', PHASH, PDQ.toString('hex'));
    for (const row of await rows(`SELECT name, phash <~> q AS distance
                                  FROM pictures, simhash_from_unsigned($1) q
                                  WHERE phash <~> q <= $2`, PHASH ^ 1n, 8))
        console.log(`${row.name}: ${row.distance} of 64 bits differ`);
    const [nearest] = await rows(`SELECT name, phash, pdq FROM pictures
                                  ORDER BY pdq <~~> code_from_hex($1) LIMIT 1`,
                                 PDQ.toString('hex'));
    console.log('nearest:', nearest.name, BigInt.asUintN(64, nearest.phash) === PHASH,
                BigInt('0b' + nearest.pdq) === BigInt('0x' + PDQ.toString('hex')));
    for (const row of await rows('SELECT name FROM pictures WHERE pdq =~~ ANY ($1::bit(256)[])',
                                 [nearest.pdq]))
        console.log('alike:', row.name);

    // A bigint comes as a string. Send it back as one, or as a BigInt. Number loses bits.
    for (const value of [nearest.phash, BigInt(nearest.phash), Number(nearest.phash)]) {
        const [row] = await rows('SELECT phash <~> $1 AS distance FROM pictures', value);
        console.log(`as a ${typeof value}: ${row.distance} bits differ`);
    }

    // Lists of features: node-postgres sends them without a type.
    const [row] = await rows('SELECT minhash_of($1::text[]) <~> minhash_of($2::text[]) AS distance',
                             ['quick', 'fox'], ['fox', 'quick']);
    console.log(`lists: ${row.distance} bits differ`);
    await client.end();
}
main();
