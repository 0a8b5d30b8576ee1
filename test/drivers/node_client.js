// Prepared statements of node-postgres, which sends every parameter as text of unknown type. Prints one line a check.
const { Client } = require('pg');

const check = (good, what) => console.log((good ? 'ok ' : 'not ok ') + what);

(async () => {
    const client = new Client();
    await client.connect();
    await client.query('SET enable_seqscan = off');
    await client.query('SET plan_cache_mode = force_generic_plan');
    const query = (await client.query('SELECT fp FROM docs WHERE id = 5')).rows[0].fp;
    const expected = (await client.query('SELECT count(*) FROM docs WHERE hamming(fp, $1) + 0 <= 3', [query])).rows[0].count;
    const plan = await client.query({ text: 'EXPLAIN (COSTS OFF) SELECT id FROM docs WHERE fp <~> $1 <= $2', values: [query, 3], name: 'plan' });
    check(JSON.stringify(plan.rows).includes('docs_fp'), 'node-postgres: the index serves untyped parameters');
    let rows;
    for (let i = 0; i < 8; i++) {
        rows = (await client.query({ text: 'SELECT id FROM docs WHERE fp <~> $1 <= $2', values: [query, 3], name: 'within' })).rows;
    }
    check(rows.length === Number(expected), 'node-postgres: prepared, the right rows');
    const nearest = (await client.query('SELECT fp <~> $1 AS distance FROM docs ORDER BY fp <~> $1 LIMIT $2', [query, 4])).rows;
    check(nearest.length === 4 && nearest[0].distance === 0, 'node-postgres: nearest first');
    const inserted = await client.query('INSERT INTO refusing VALUES ($1) ON CONFLICT DO NOTHING', [String(BigInt(query) ^ 1n)]);
    check(inserted.rowCount === 0, 'node-postgres: a near-duplicate is refused');
    await client.end();
})().catch((error) => {
    check(false, 'node-postgres: ' + error.message);
    process.exit(1);
});
