"""The methods that the speed bench compares: how each is indexed and how each is asked.

To add one, append a Method to METHODS: it takes part wherever `available` says that the server has it.

In DDL and queries {table} is the table (id bigint, fp bigint). In queries {q} is the query's fingerprint and
{id} the id of a row, for methods that look up by id. Each SELECT has one column, which makes it visit the rows found.
"""
import dataclasses

RADII = (0, 1, 3, 5, 8, 12)     # bits
BLOCKS = range(4)               # a fingerprint as four blocks of 16 bits, the leading one first


@dataclasses.dataclass(frozen=True, eq=False)
class Method:
    key: str                # in JSON and for --methods
    title: str              # in the table and the plots
    note: str               # what it is, for the legend
    indexes: dict           # name of the index, after the table's -> statement
    within: object          # radius -> SELECT of the ids within the radius, or None where it cannot
    nearest: object = None  # count -> SELECT of that many nearest ids, or None where it cannot
    settings: str = ""      # for the session that queries
    setup: str = ""         # once per database
    available: str = "SELECT true"
    wire: bool = False      # takes part in the measurements over the wire and with cold caches
    insert: bool = True     # takes part in the measurements of inserts and vacuum
    rounds: int = 3         # repetitions of the build and of inserts: one where they take long
    radii: tuple = RADII    # to measure with: one where the radius makes no difference
    counts: tuple = (1, 10, 100)    # of nearest rows to measure with
    most_rows: int = 0      # where more take too long; 0 for no limit
    on_demand: bool = False # measured only where --methods names it
    documents: bool = True  # takes part in the measurements of fingerprints of texts
    grow: bool = False      # takes part in the measurements of an index grown to the table's size by inserts

    def index_names(self, table):
        return [f"{table}_{name}" for name in self.indexes]

    def statements(self, table):
        return [ddl.format(table=table, name=f"{table}_{name}") for name, ddl in self.indexes.items()]


# ---- what a careful developer writes without an extension: four blocks, of which some must nearly agree ----

def block(fp, i):
    return f"((({fp}) >> {48 - 16 * i}) & 65535)::int"


def thresholds(radius):
    """Differing bits to allow in each block, -1 for none probed: sum(t + 1) = radius + 1, so that no row is missed."""
    share, rest = divmod(radius + 1, len(BLOCKS))
    return [share + (i < rest) - 1 for i in BLOCKS]


def distance(fp):
    return f"bit_count(({fp} # {{q}})::bit(64))"


def four_btrees_within(radius):
    parts = []
    for i, allowed in enumerate(thresholds(radius)):
        if allowed < 0:
            continue
        wanted = f"= {block('{q}', i)}"
        if allowed > 0:
            wanted = f"= ANY (ARRAY(SELECT {block('{q}', i)} # mask FROM block_mask WHERE bits <= {allowed}))"
        parts.append(f"SELECT b{i}.id FROM {{table}} b{i} WHERE {block(f'b{i}.fp', i)} {wanted} "
                     f"AND {distance(f'b{i}.fp')} <= {radius}")
    return " UNION ".join(parts)


# A block with its number in the bits above it: equal blocks in different places are different keys.
def gin_key(fp, i):
    return f"{block(fp, i)} | {i << 16}"


def gin_keys(fp, blocks=BLOCKS):
    return f"ARRAY[{', '.join(gin_key(fp, i) for i in blocks)}]"


def gin_within(radius):
    allowed = {i: t for i, t in enumerate(thresholds(radius)) if t >= 0}
    if max(allowed.values()) == 0:
        wanted = gin_keys("{q}", allowed)
    else:
        wanted = "ARRAY(" + " UNION ALL ".join(
            f"SELECT {block('{q}', i)} # mask | {i << 16} FROM block_mask WHERE bits <= {t}" for i, t in allowed.items()) + ")"
    return f"SELECT g.id FROM {{table}} g WHERE {gin_keys('g.fp')} && {wanted} AND {distance('g.fp')} <= {radius}"


# Every 16-bit word and how many bits it has: the ways in which a block may differ.
BLOCK_MASK = """
CREATE TABLE IF NOT EXISTS block_mask AS SELECT mask, bit_count(mask::bit(16)) AS bits FROM generate_series(0, 65535) mask;
CREATE INDEX IF NOT EXISTS block_mask_bits ON block_mask (bits) INCLUDE (mask);
ANALYZE block_mask;
"""

INDEX_ONLY = "SET enable_seqscan = off"
BITMAP_ONLY = "SET enable_seqscan = off; SET enable_indexscan = off; SET enable_indexonlyscan = off"

METHODS = [
    Method(
        key="simhash", title="simhash",
        note="this extension, default options; `fp <~> q <= radius`",
        indexes={"simhash": "CREATE INDEX {name} ON {table} USING simhash (fp)"},
        within=lambda radius: f"SELECT s.id FROM {{table}} s WHERE s.fp <~> {{q}} <= {radius}",
        nearest=lambda count: f"SELECT s.id FROM {{table}} s ORDER BY s.fp <~> {{q}} LIMIT {count}",
        settings=INDEX_ONLY, wire=True, grow=True),
    # On an expression, which the index without a scope does not serve: where all rows are of one scope both cost the same.
    Method(
        key="scope", title="simhash, scope",
        note="this extension, an index with a scope that all rows share; `(fp # 0) <~> q <= radius AND (id & 0) = 0`",
        indexes={"scope": "CREATE INDEX {name} ON {table} USING simhash ((fp # 0), (id & 0))"},
        within=lambda radius: f"SELECT o.id FROM {{table}} o WHERE (o.fp # 0) <~> {{q}} <= {radius} AND (o.id & 0) = 0",
        settings=INDEX_ONLY, insert=False, documents=False, radii=(3,)),
    Method(
        key="pk", title="primary key",
        note="lookup of one row by its unique `id`: other work, for scale",
        indexes={"pkey": "CREATE UNIQUE INDEX {name} ON {table} (id)"},
        within=lambda radius: "SELECT p.fp FROM {table} p WHERE p.id = {id}",
        settings=INDEX_ONLY, wire=True),
    Method(
        key="btree", title="B-tree (fp)",
        note="plain B-tree on the fingerprint: finds equal ones only, for scale",
        indexes={"btree": "CREATE INDEX {name} ON {table} (fp)"},
        # Not `=`, which the simhash index answers too.
        within=lambda radius: "SELECT e.id FROM {table} e WHERE e.fp BETWEEN {q} AND {q}" if radius == 0 else None,
        settings=INDEX_ONLY, grow=True),
    Method(
        key="four_btrees", title="four B-trees",
        note="covering B-trees on the four 16-bit blocks, `INCLUDE (fp, id)`; hand-written UNION, neighbouring blocks above radius 3",
        indexes={f"block{i}": f"CREATE INDEX {{name}} ON {{table}} (({block('fp', i)})) INCLUDE (fp, id)" for i in BLOCKS},
        within=four_btrees_within, settings=INDEX_ONLY, setup=BLOCK_MASK, wire=True, rounds=1),
    Method(
        key="gin", title="GIN",
        note="GIN over an array of the four 16-bit blocks, `&&`",
        indexes={"gin": f"CREATE INDEX {{name}} ON {{table}} USING gin (({gin_keys('fp')}))"},
        within=gin_within, settings=BITMAP_ONLY, setup=BLOCK_MASK, rounds=1),
    Method(
        key="seqscan", title="sequential scan",
        note="`bit_count((fp # q)::bit(64)) <= radius`, no index",
        indexes={},
        within=lambda radius: f"SELECT x.id FROM {{table}} x WHERE {distance('x.fp')} <= {radius}",
        nearest=lambda count: f"SELECT x.id FROM {{table}} x ORDER BY {distance('x.fp')} LIMIT {count}",
        settings="SET enable_indexscan = off; SET enable_indexonlyscan = off; SET enable_bitmapscan = off",
        radii=(3,), counts=(10,)),
    Method(
        key="bktree", title="BK-tree",
        note="BK-tree on SP-GiST (extension `bktree`)",
        available="SELECT EXISTS (SELECT FROM pg_available_extensions WHERE name = 'bktree')",
        setup="CREATE SCHEMA IF NOT EXISTS bktree; CREATE EXTENSION IF NOT EXISTS bktree SCHEMA bktree",
        indexes={"bktree": "CREATE INDEX {name} ON {table} USING spgist (fp bktree.bktree_ops)"},
        within=lambda radius: f"SELECT k.id FROM {{table}} k WHERE k.fp OPERATOR(bktree.<@) ROW({{q}}, {radius}::bigint)::bktree.bktree_area",
        settings=INDEX_ONLY, rounds=1),
    Method(
        key="pgvector", title="pgvector HNSW",
        note="HNSW over `fp::bit(64)` (extension `vector`), nearest only and approximate; its build takes minutes for 100 000 rows",
        available="SELECT EXISTS (SELECT FROM pg_available_extension_versions WHERE name = 'vector' AND version >= '0.7.0')",
        setup="CREATE SCHEMA IF NOT EXISTS vector; CREATE EXTENSION IF NOT EXISTS vector SCHEMA vector",
        indexes={"hnsw": "CREATE INDEX {name} ON {table} USING hnsw ((fp::bit(64)) vector.bit_hamming_ops)"},
        within=lambda radius: None,
        nearest=lambda count: f"SELECT v.id FROM {{table}} v ORDER BY v.fp::bit(64) OPERATOR(vector.<~>) ({{q}})::bit(64) LIMIT {count}",
        settings=INDEX_ONLY, insert=False, rounds=1, most_rows=100_000),
]
