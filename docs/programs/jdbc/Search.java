// The same with JDBC.
import java.math.BigInteger;
import java.sql.*;
import java.util.Locale;

class Search {
    static final String HOUSE =
        "The boat house is closed from the first to the fifteenth of March for repairs of the roof.";
    static final long PHASH = 0xd4c4b2a39b6a5937L;  // Long.parseUnsignedLong reads 0 to 2^64 - 1
    static final String PDQ = "d4c4b2a39b6a5937".repeat(4);
    static Connection connection;

    static PreparedStatement prepare(String statement, Object... values) throws SQLException {
        PreparedStatement prepared = connection.prepareStatement(statement);
        for (int i = 0; i < values.length; i++) prepared.setObject(i + 1, values[i]);
        return prepared;
    }

    static int run(String statement, Object... values) throws SQLException {
        return prepare(statement, values).executeUpdate();
    }

    static ResultSet rows(String statement, Object... values) throws SQLException {
        return prepare(statement, values).executeQuery();
    }

    public static void main(String[] arguments) throws SQLException {
        var set = System.getenv();
        String server = set.getOrDefault("PGHOST", "localhost");
        String port = set.getOrDefault("PGPORT", "5432");
        connection = DriverManager.getConnection(
            "jdbc:postgresql://" + server + ":" + port + "/" + set.get("PGDATABASE"),
            set.getOrDefault("PGUSER", System.getProperty("user.name")), set.get("PGPASSWORD"));

        // Documents. The constraint refuses near-duplicates; its index serves searches.
        run("CREATE TEMP TABLE pages (id integer PRIMARY KEY, body text,"
            + " CONSTRAINT no_copies EXCLUDE USING simhash (body WITH =~~))");
        String[] bodies = {HOUSE, HOUSE.toUpperCase(), HOUSE.replace("March", "April")};
        for (int i = 0; i < 3; i++) {
            int inserted = run("INSERT INTO pages VALUES (?, ?) ON CONFLICT DO NOTHING",
                i + 1, bodies[i]);
            System.out.printf("page %d %s%n", i + 1, inserted == 1 ? "inserted" : "refused");
        }
        ResultSet found = rows("SELECT id FROM pages WHERE body =~~ ?", HOUSE);
        while (found.next()) System.out.printf("near-duplicate: %d%n", found.getInt(1));
        found = rows("SELECT id FROM pages WHERE near_duplicate(body, ?, ?) ORDER BY id",
            HOUSE, 0.6);
        while (found.next()) System.out.printf("similarity .6: %d%n", found.getInt(1));
        found = rows("SELECT * FROM near_duplicate_pairs(?, ?)", "SELECT id, body FROM pages", 0.6);
        while (found.next())
            System.out.printf(Locale.ROOT, "pair: %d, %d, similarity %.2f%n",
                found.getLong(1), found.getLong(2), found.getDouble(3));

        // Hashes of pictures: within 8 bits of a fingerprint, nearest to a code, like one of several.
        run("CREATE TEMP TABLE pictures (name text, phash bigint, pdq bit(256))");
        run("CREATE INDEX pictures_phash ON pictures USING simhash (phash)");
        run("CREATE INDEX pictures_pdq ON pictures USING simhash (pdq)");
        run("INSERT INTO pictures VALUES (?, ?, code_from_hex(?))", "boat.jpg", PHASH, PDQ);
        found = rows("SELECT name, phash <~> ? FROM pictures WHERE phash <~> ? <= ?",
            PHASH ^ 1, PHASH ^ 1, 8);
        while (found.next())
            System.out.printf("%s: %d of 64 bits differ%n", found.getString(1), found.getInt(2));
        found = rows("SELECT name, phash, pdq FROM pictures"
            + " ORDER BY pdq <~~> code_from_hex(?) LIMIT 1", PDQ);
        found.next();
        String bits = found.getString("pdq");
        boolean isSame = new BigInteger(bits, 2).equals(new BigInteger(PDQ, 16));
        System.out.printf("nearest: %s %b %b%n",
            found.getString("name"), found.getLong("phash") == PHASH, isSame);
        found = rows("SELECT name FROM pictures WHERE pdq =~~ ANY (?::bit(256)[])",
            connection.createArrayOf("bit", new String[] {bits}));
        while (found.next()) System.out.printf("alike: %s%n", found.getString(1));

        // Lists of features have a type in JDBC.
        found = rows("SELECT minhash_of(?) <~> minhash_of(?)",
            connection.createArrayOf("text", new String[] {"quick", "fox"}),
            connection.createArrayOf("text", new String[] {"fox", "quick"}));
        while (found.next()) System.out.printf("lists: %d bits differ%n", found.getInt(1));
        connection.close();
    }
}
