# What real drivers send: psycopg 3 (small integers as int2) and node-postgres (everything untyped).
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";
use SimhashTest;
use Test::More;

my $node = start_node('drivers');
create_data($node, 'docs', 'clustered', 5000);
$node->safe_psql('postgres', q{
	INSERT INTO docs VALUES (6000, 7);
	CREATE INDEX docs_fp ON docs USING simhash (fp);
	CREATE TABLE refusing (fp bigint, EXCLUDE USING simhash (fp WITH ~=));
	INSERT INTO refusing SELECT fp FROM docs WHERE id = 5;
	VACUUM ANALYZE docs;
});
local %ENV = (%ENV, PGHOST => $node->host, PGPORT => $node->port, PGDATABASE => 'postgres');
$ENV{PGUSER} //= getpwuid($<);

# Runs a client; each of its lines that says ok or not ok is a test. Its interpreter may have warnings of its own.
sub run_client
{
	my ($what, $available, @command) = @_;
  SKIP:
	{
		skip "$what is not installed", 1 unless $available;
		my $output = `@command 2>&1`;
		is($?, 0, "$what ran to its end") or diag($output);
		my @lines = grep { /^(ok|not ok) / } split /\n/, $output;
		cmp_ok(scalar(@lines), '>=', 4, "$what reported");
		for my $line (@lines)
		{
			my ($verdict, $text) = $line =~ /^(ok|not ok) (.*)/;
			is($verdict, 'ok', $text);
		}
	}
	return;
}
my $drivers = "$FindBin::RealBin/../drivers";
my $python = $ENV{SIMHASH_PYTHON} // '/usr/bin/python3';
run_client('psycopg', system("$python -c 'import psycopg' >/dev/null 2>&1") == 0, $python, "$drivers/psycopg_client.py");
run_client('node-postgres', system("node -e 'require(\"pg\")' >/dev/null 2>&1") == 0, 'node', "$drivers/node_client.js");
$node->stop;
done_testing();
