# The programs of docs/programs print the output.txt beside them, after the migrations of their folder, and their searches use the
# indexes.
use strict;
use warnings;

use File::Basename;
use FindBin;
use lib "$FindBin::RealBin/../perl";
use IPC::Run ();
use MarkdownExamples;
use PostgreSQL::Test::Utils;
use SimhashTest;
use Test::More;

# JDBC connects by TCP only.
my $node = start_node('programs', conf => "listen_addresses = '127.0.0.1'\n");
chomp(my $libraries = `pg_config --pkglibdir`);
my $plans_are_logged = -e "$libraries/auto_explain.so";

my $python = $ENV{SIMHASH_PYTHON} // '/usr/bin/python3';
my $jdbc = '/usr/share/java/postgresql.jar';

sub has_modules
{
	return "$python -c 'import sys; from importlib.util import find_spec; sys.exit(not all(map(find_spec, sys.argv[1:])))' @_";
}

# [Name, folder, the command that tells whether its program can run, whether migrate.sh makes its tables.]
my @programs = (
	[ 'psycopg 3',     'psycopg3',      has_modules('psycopg') ],
	[ 'psycopg2',      'psycopg2',      has_modules('psycopg2') ],
	[ 'asyncpg',       'asyncpg',       has_modules('asyncpg') ],
	[ 'node-postgres', 'node-postgres', q{node -e 'require("pg")'} ],
	[ 'JDBC',          'jdbc',          "command -v javac && test -e $jdbc" ],
	[ 'SQLAlchemy',    'sqlalchemy',    has_modules('psycopg2', 'sqlalchemy') ],
	[ 'Alembic',       'sqlalchemy',    has_modules('psycopg2', 'sqlalchemy', 'alembic') . ' && command -v alembic', 1 ],
	[ 'Django',        'django',        has_modules('psycopg2', 'django'), 1 ]);
my %interpreter = (py => ['python3'], js => ['node'], java => [ 'java', '-cp', $jdbc ]);

my $folder = PostgreSQL::Test::Utils::tempdir;
mkdir "$folder/bin" or die "mkdir: $!";
symlink $python, "$folder/bin/python3" or die "symlink: $!";
local %ENV = (%ENV, PATH => "$folder/bin:$ENV{PATH}", PGPORT => $node->port, PGUSER => $ENV{PGUSER} // getpwuid($<), PYTHONDONTWRITEBYTECODE => 1);

# A database with the extension. Its sessions use an index wherever one can serve the query, with the generic plan that a statement may
# get after some executions, and log their plans.
sub create_database
{
	my ($database) = @_;
	$node->safe_psql('postgres', qq{CREATE DATABASE "$database"});
	$node->safe_psql($database, 'CREATE EXTENSION simhash');
	my %settings = (enable_seqscan => 'off', plan_cache_mode => 'force_generic_plan');
	%settings = (%settings, session_preload_libraries => 'auto_explain', 'auto_explain.log_min_duration' => 0) if $plans_are_logged;
	$node->safe_psql('postgres', qq{ALTER DATABASE "$database" SET $_ = $settings{$_}}) for sort keys %settings;
	return;
}

# Runs a command in a folder: (its status, what it prints, its errors).
sub run_in
{
	my ($where, @command) = @_;
	my ($output, $errors) = ('', '');
	IPC::Run::run(\@command, '<', \undef, '>', \$output, '2>', \$errors, init => sub { chdir $where or die "chdir: $!" });
	return ($?, $output, $errors);
}

# What a program sends: each form of the page's table is understood with parameters without a type, as some drivers send them.
my $page = slurp_file("$FindBin::RealBin/../../docs/programs.md");
$node->safe_psql('postgres', 'CREATE TABLE forms (body text, fp bigint, code bit(256))');
my ($table) = $page =~ /^## What to send\n(.*?)^## /ms;
my @forms = map { /`([^`]+)`/g } $table =~ /^\| [^|]+ (\|.*)/mg;
cmp_ok(scalar(@forms), '>=', 15, 'the page has forms');
for my $form (@forms)
{
	my $from = $form =~ /^near_duplicate_/ ? "FROM $form" : "$form FROM forms";
	my (undef, undef, $errors) = $node->psql('postgres', "PREPARE form AS SELECT $from");
	is($errors, '', "parameters without a type: $form");
}
my (undef, undef, $errors) = $node->psql('postgres', 'PREPARE form AS SELECT minhash_of($1)');
like($errors, qr/ERROR:  function minhash_of\(unknown\) is not unique/, 'a list without a type is refused');
(undef, undef, $errors) = $node->psql('postgres', q{INSERT INTO forms (code) VALUES (code_from_hex('d4c4b2a3'))});
like($errors, qr/ERROR:  bit string length 32 does not match type bit\(256\)/, 'a code of another length is refused');
is($node->safe_psql('postgres', q{PREPARE form AS INSERT INTO forms (code) VALUES ($1::bit(256)) RETURNING length(code); EXECUTE form('1')}),
	256, '... but not by a cast');

# ---- the programs ----

my $top = "$FindBin::RealBin/../../docs/programs";
my %is_tried = map { $_->[1] => 1 } @programs;
is_deeply([ sort map { basename($_) } glob("\Q$top\E/*") ], [ sort keys %is_tried ], 'each folder is tried');

for my $program (@programs)
{
	my ($driver, $name, $is_installed, $migrates) = @$program;
SKIP:
	{
		skip "$driver is not installed", 1 unless system("($is_installed) >/dev/null 2>&1") == 0;
		create_database($driver);
		local %ENV = (%ENV, PGHOST => $driver eq 'JDBC' ? '127.0.0.1' : $node->host, PGDATABASE => $driver);
		my $log_begins = -s $node->logfile;
		my $where = "$folder/$driver";
		system_or_bail('cp', '-r', "$top/$name", $where);
		if ($migrates)
		{
			my ($status, undef, $errors) = run_in($where, qw(bash -e migrate.sh));
			is($status, 0, "$driver: migrate.sh") or diag($errors);
		}
		my ($file) = map { basename($_) } glob("\Q$where\E/[sS]earch.*");
		my ($status, $output, $errors) = run_in($where, @{ $interpreter{ ($file =~ /(\w+)$/)[0] } }, $file);
		is("$status\n$output", "0\n" . slurp_file("$where/output.txt"), "$driver: $file") or diag($errors);

		# What the page says of migrations.
		if ($driver eq 'Alembic')
		{
			my ($status, undef, $errors) = run_in($where, qw(alembic revision --autogenerate -m difference));
			my @changes = grep { /^\s+op\./ } map { split /\n/, slurp_file($_) } glob("\Q$where\E/migrations/versions/*difference.py");
			is_deeply([ $status, @changes ], [0], 'Alembic: no difference between models and database') or diag($errors);
			is((run_in($where, qw(alembic downgrade base)))[0], 0, 'Alembic: and back');
		}
		elsif ($driver eq 'Django')
		{
			my @django = qw(python3 -m django);
			my ($status, $output) = run_in($where, @django, qw(makemigrations --check --settings settings));
			is($output, "No changes detected\n", 'Django: no difference between models and migrations');
			is((run_in($where, @django, qw(migrate pages zero --settings settings)))[0], 0, 'Django: and back');
		}

		skip 'auto_explain is not installed', 1 unless $plans_are_logged;
		my $log = slurp_file($node->logfile, $log_begins);
		is_deeply([ $log =~ /Seq Scan on (?:pages|pictures).*/g ], [], "$driver: no search reads a table from end to end");
		my %used = map { $_ => 1 } $log =~ /(?:Index Scan using|Bitmap Index Scan on) (\w+)/g;
		is(join(' ', grep { /no_copies|pictures_\w+/ } sort keys %used), 'no_copies pictures_pdq pictures_phash', "$driver: each index serves a search");
	}
}
$node->stop;
done_testing();
