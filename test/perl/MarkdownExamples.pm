# Examples in a Markdown page: each block ```sql, and after it a plain block ``` with what psql prints
# for it, where it prints anything. A page's examples run in their order, in one session.
package MarkdownExamples;

use strict;
use warnings;

use Exporter 'import';
use IPC::Run ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

our @EXPORT = qw(read_examples run_examples with_outputs write_file);

my $example = qr/^```sql\n(?<sql>.*?)^```\n(?:\n*^```\n(?<output>.*?)^```\n)?/ms;

# ({line, sql, output}, ...); the output is '' where no block of it follows.
sub read_examples
{
	my ($page) = @_;
	my @examples;
	while ($page =~ /$example/g)
	{
		my $line = 1 + (substr($page, 0, $-[0]) =~ tr/\n//);
		push @examples, { line => $line, sql => $+{sql}, output => $+{output} // '' };
	}
	return @examples;
}

sub write_file
{
	my ($path, $text) = @_;
	open my $file, '>:raw', $path or die "$path: $!";
	print $file $text;
	close $file or die "$path: $!";
	return;
}

# What psql prints for each example in this database, errors in their place. $settings are psql's commands that
# come before them. Blanks at the end of a line, with which psql pads headings, do not count.
sub run_examples
{
	my ($node, $database, $settings, @examples) = @_;
	my $mark = '---- next example ----';
	my $script = "$PostgreSQL::Test::Utils::tmp_check/examples.sql";
	write_file($script, join('', $settings, map { "\\echo $mark\n$_->{sql}" } @examples));
	my $output = '';
	my @psql = ('psql', '-X', '-q', '-d', $node->connstr($database));
	IPC::Run::run(\@psql, '<', $script, '>', \$output, '2>&1');
	$output =~ s/[ \t]+$//mg;
	my (undef, @printed) = split /^\Q$mark\E\n/m, $output, -1;
	for (@printed)
	{
		s/\n+\z/\n/;
		s/\A\n+\z//;
	}
	return @printed;
}

# The page with these outputs in the place of its own.
sub with_outputs
{
	my ($page, @printed) = @_;
	$page =~ s{$example}{
		my $output = shift @printed;
		"```sql\n$+{sql}```\n" . ($output eq '' ? '' : "\n```\n$output```\n")
	}ge;
	return $page;
}

1;
