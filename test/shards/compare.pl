#!/usr/bin/env perl
# Runs every form of query (forms.sql) on one node and on shards, and prints a table: whether the
# answers are equal, and the milliseconds of each, the least of three times in a session that has
# run it once before.
#
#   test/shards/compare.pl CONNECTION-TO-ONE-NODE CONNECTION-TO-THE-COORDINATOR [NAMES]
#
# Both have the tables of tables.sql. NAMES, a regular expression, chooses forms. What is about whole
# tables needs memory: PGOPTIONS='-c work_mem=256MB'.
use strict;
use warnings;

use FindBin;
use List::Util qw(min sum0);
use lib "$FindBin::RealBin/../perl";
use QueryForms;

# (what the form prints or its error, milliseconds)
sub run_form
{
	my ($connection, $form) = @_;
	my $again  = "DEALLOCATE ALL;\n\\echo ---- again ----\n$form->{sql}\n";
	my $script = "$form->{sql}\n\\timing on\n" . $again x 3;
	my $pid = open my $psql, '-|';
	die "fork: $!" unless defined $pid;
	if ($pid == 0)
	{
		open STDERR, '>&', \*STDOUT or die "stderr: $!";
		exec 'psql', '-X', '-q', '-A', '-t', '-d', $connection, '-c', '\set VERBOSITY terse', map { ('-c', $_) } statements($script);
	}
	my $output = do { local $/ = undef; <$psql> };
	close $psql;
	my ($answer, @times) = split /^---- again ----\n/m, $output =~ s/^Time: .*\n(?=---- again)//mgr;
	return ($answer, min(map { sum0(/^Time: ([\d.]+) ms/mg) } @times));
}

# psql takes commands of its own and SQL one by one.
sub statements
{
	my ($script) = @_;
	return map { s/\A\s+|\s+\z//gr } grep { /\S/ } split /(?<=;)\n|(?<=----)\n|(?<=timing on)\n/, $script;
}

my ($one, $shards, $names) = @ARGV;
die "usage: $0 CONNECTION-TO-ONE-NODE CONNECTION-TO-THE-COORDINATOR [NAMES]\n" unless $shards;
my %count = (equal => 0, different => 0, refused => 0);
print "| form | answer | one node, ms | shards, ms |\n|---|---|---|---|\n";
for my $form (grep { $_->{name} =~ ($names // '') } read_forms("$FindBin::RealBin/forms.sql"))
{
	my ($expected, $time)           = run_form($one,    $form);
	die "$form->{name}: $expected" if $expected =~ /^ERROR:/m;
	my ($answer,   $time_of_shards) = run_form($shards, $form);
	my $result = $answer eq $expected ? 'equal' : $answer =~ /^ERROR:/m ? 'refused' : 'different';
	++$count{$result};
	printf "| %s | %s | %.1f | %.1f |\n", $form->{name}, $result, $time, $time_of_shards;
}
print "\nequal: $count{equal}, refused: $count{refused}, different: $count{different}\n";
exit($count{different} > 0);
