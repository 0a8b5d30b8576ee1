# Random changes to the text and binary forms of values and to storage parameters: what follows is a value or an error of input, never a
# crash. `make fuzz` runs the same functions without a server, and many more inputs.
use strict;
use warnings;

use FindBin;
use lib "$FindBin::RealBin/../perl";
use PostgreSQL::Test::Utils;
use SimhashTest;
use Test::More;

my $trials = $ENV{SIMHASH_INPUT_TRIALS} // 300;
srand($ENV{SIMHASH_INPUT_SEED} // 20240602);
my $node = start_node('input');
my $folder = PostgreSQL::Test::Utils::tempdir;

# Valid values of each type.
my %values = (
	hamming_ball => q{SELECT hamming_ball(hashint8extended(i, 1) >> i, hashint8extended(i, 2) >> i) FROM generate_series(1, 40) i},
	bit_ball => q{SELECT bit_ball(substring(('x' || repeat(md5(i::text), 3))::bit(384), 1, i * 9)::bit varying::bit, i) FROM generate_series(1, 40) i},
	shingle_set => q{SELECT simhash_shingles(repeat(md5(i::text) || ' ', i) || 'a b c', CASE WHEN i % 2 = 0 THEN 'words' ELSE 'chars' END)
		FROM generate_series(1, 40) i});

sub any_of { return $_[ int(rand(@_)) ] }

# Bytes with a few changes: other bytes, some left out, some doubled.
sub changed
{
	my ($bytes, @likely) = @_;
	for (1 .. int(rand(4)))
	{
		my $at = int(rand(1 + length $bytes));
		my $length = any_of(1, 1, 1, 4, 8);
		my $kind = int(rand(4));
		$length = length($bytes) - $at if $length > length($bytes) - $at;
		my $part = $kind == 0 ? '' : $kind == 1 ? substr($bytes, $at, $length) x 2 : $kind == 2 ? any_of(@likely)
			: join('', map { chr(int(rand(256))) } 1 .. $length);
		substr($bytes, $at, $length, $part);
	}
	return $bytes;
}

# A value as COPY reads it.
sub binary_row { return "PGCOPY\n\377\r\n\0" . pack('N N n', 0, 0, 1) . pack('N/a*', $_[0]) . pack('n', 0xffff) }

# A string as SQL writes it, of characters that are one byte each.
sub literal { return "E'" . join('', map { sprintf('\\x%02x', ord) } split(//, $_[0] =~ s/[^\x01-\x7f]/?/gr)) . "'" }

# Runs statements, which may fail, in one session. Returns how many failed by SQLSTATE.
sub errors_of
{
	my (@statements) = @_;
	my $errors = '';
	$node->psql('postgres', join("\n", "\\set VERBOSITY sqlstate", @statements, ''), stderr => \$errors, on_error_stop => 0, on_error_die => 0);
	my %count;
	$count{$_}++ for $errors =~ /(?:ERROR|FATAL|PANIC|server closed|connection to server).*?([0-9A-Z]{5})?$/mg;
	return \%count;
}

# Passes when all errors are of these SQLSTATEs, and some statements succeeded and some failed.
sub check_errors
{
	my ($what, $count, $of, @expected) = @_;
	my $failed = 0;
	$failed += $_ for values %$count;
	my %unexpected = %$count;
	delete @unexpected{@expected};
	is_deeply(\%unexpected, {}, "$what: a value or an error of input");
	ok($failed > 0 && $failed < $of, "$what: $failed of $of refused");
	return;
}

for my $type (sort keys %values)
{
	$node->safe_psql('postgres', "CREATE TABLE accepted_$type (value $type)");
	my @rows = split /\n/, $node->safe_psql('postgres', "SELECT value, encode(${type}_send(value), 'hex') FROM ($values{$type}) v (value)");
	my (@texts, @copies);
	for my $trial (1 .. $trials)
	{
		my ($text, $hex) = split /\|/, any_of(@rows);
		push @texts, "INSERT INTO accepted_$type VALUES (" . literal(changed($text, ',', '(', ')', ':', ' ', '-', '99999999999999999999', '/0:')) . ');';
		my $file = "$folder/$type.$trial";
		my $binary = binary_row(changed(pack('H*', $hex), "\0\0\0\0", "\377\377\377\377", "\177\377\377\377", "\200\0\0\0"));
		PostgreSQL::Test::Utils::append_to_file($file, $binary);
		push @copies, "\\copy accepted_$type FROM '$file' (FORMAT binary)";
	}
	check_errors("$type, text", errors_of(@texts), $trials, '22P02', '22003');
	check_errors("$type, binary", errors_of(@copies), $trials, '22P03', '08P01');
	is($node->safe_psql('postgres', "SELECT count(*) FROM accepted_$type WHERE ${type}_send(value::text::$type) <> ${type}_send(value)"),
		0, "$type: the text form of what was accepted gives it again");
}

my @options = map {
	sprintf('ALTER INDEX docs_fp SET (%s = %s);', any_of('radius', 'tables', 'fillfactor'), literal(changed(any_of(0, 3, 4, 63, 64, 90, 100), '-', '.5', 'e1', ' ', '9999999999')));
} 1 .. $trials;
$node->safe_psql('postgres', 'CREATE TABLE docs (fp bigint); CREATE INDEX docs_fp ON docs USING simhash (fp)');
check_errors('storage parameters', errors_of(@options), $trials, '22023');
$node->safe_psql('postgres', 'REINDEX INDEX docs_fp');

is($node->safe_psql('postgres', 'SELECT count(*) FROM docs'), 0, 'the server lives');
$node->stop;
done_testing();
