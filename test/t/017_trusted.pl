# The extension is trusted: whoever owns a database may install it, and its script runs as a superuser. So the script must
# call nothing that its schema's owner has put there.
use strict;
use warnings;

use File::Basename;
use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Utils;
use SimhashTest;
use Test::More;

my $node = start_node('trusted', no_extension => 1);
$node->safe_psql('postgres', 'CREATE ROLE tenant LOGIN');
$node->safe_psql('postgres', 'CREATE DATABASE rented OWNER tenant');

sub as_tenant
{
	my ($sql) = @_;
	return $node->safe_psql('rented', $sql, extra_params => [ '-U', 'tenant' ]);
}

# Functions and operators that suit unknown literals, names and the like better than those of pg_catalog.
as_tenant(q{
	CREATE SCHEMA trap;
	CREATE TABLE trap.called (what text, by text);
	CREATE FUNCTION trap.format(text, text, text, text) RETURNS text LANGUAGE sql AS
		$$ INSERT INTO trap.called VALUES ('format', current_user); SELECT pg_catalog.format($1, $2, $3, $4) $$;
	CREATE FUNCTION trap.is_like(name, name) RETURNS boolean LANGUAGE sql AS
		$$ INSERT INTO trap.called VALUES ('~~', current_user); SELECT $1 ~~ $2::text $$;
	CREATE OPERATOR trap.~~ (LEFTARG = name, RIGHTARG = name, FUNCTION = trap.is_like);
	CREATE FUNCTION trap.minhash(text) RETURNS bigint LANGUAGE sql AS
		$$ INSERT INTO trap.called VALUES ('minhash', current_user); SELECT 1::bigint $$;
	CREATE FUNCTION trap.unnest(text[]) RETURNS SETOF text LANGUAGE sql AS
		$$ INSERT INTO trap.called VALUES ('unnest', current_user); SELECT pg_catalog.unnest($1) $$;
	CREATE FUNCTION trap.times(integer, double precision) RETURNS double precision LANGUAGE sql AS
		$$ INSERT INTO trap.called VALUES ('*', current_user); SELECT $1::double precision * $2 $$;
	CREATE OPERATOR trap.* (LEFTARG = integer, RIGHTARG = double precision, FUNCTION = trap.times);
	CREATE FUNCTION trap.hashtextextended(bigint) RETURNS bigint LANGUAGE sql AS $$ SELECT $1 $$;
	CREATE EXTENSION simhash SCHEMA trap});
is(as_tenant('SELECT count(*) FROM trap.called'), 0, "nothing of the schema's owner was called");
is(as_tenant(q{SELECT count(*) FROM pg_operator o JOIN pg_amop a ON a.amopopr = o.oid
	WHERE a.amopmethod = (SELECT oid FROM pg_am WHERE amname = 'simhash') AND o.oprname = '=' AND o.oprnamespace <> 'pg_catalog'::regnamespace}),
	0, 'equality is that of pg_catalog');
is(as_tenant(q{SELECT count(*) FROM pg_proc p JOIN pg_amproc a ON a.amproc = p.oid
	WHERE a.amprocfamily IN (SELECT oid FROM pg_opfamily WHERE opfmethod = (SELECT oid FROM pg_am WHERE amname = 'simhash'))
		AND p.pronamespace <> 'pg_catalog'::regnamespace
		AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_proc'::regclass AND objid = p.oid AND deptype = 'e')}),
	0, 'support functions are those of pg_catalog, and ours');

# A body that is parsed when its function is created takes what suits best then: that is ours, too.
is(as_tenant(q{SELECT count(*) FROM trap.simhash_quality('{a b c d, a b c d}') WHERE f1 = 1}), 65, 'the body of a function in SQL');
is(as_tenant('SELECT count(*) FROM trap.called'), 0, '... calls nothing of the owner, either');

# Such traps can only be set for what a script evaluates: the scripts make, alter and drop objects, and nothing else.
for my $script (glob("$FindBin::RealBin/../../simhash--*.sql"))
{
	my @statements = slurp_file($script) =~ /^([A-Z]+)\b/mg;
	is(join(' ', grep { !/^(CREATE|COMMENT|ALTER|DROP|BEGIN|END)$/ } @statements), '', basename($script) . ' evaluates no expression');
}
$node->stop;
done_testing();
