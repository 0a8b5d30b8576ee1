# The forms of query of test/shards/forms.sql. Each has its name in the line before it, and may have
# a line  -- shipped: TEXT  after that: what postgres_fdw's remote SQL contains; -- shipped from 17:
# from that PostgreSQL on.
package QueryForms;

use strict;
use warnings;

use Exporter 'import';

our @EXPORT = qw(read_forms);

# ({name, shipped, since, sql}, ...); since is a major version of PostgreSQL
sub read_forms
{
	my ($path) = @_;
	open my $file, '<', $path or die "$path: $!";
	my $text = do { local $/ = undef; <$file> };
	my (undef, @blocks) = split /\n\n+/, $text;
	return map {
		/\A-- (?<name>[^\n]*)\n(?:-- shipped(?: from (?<since>\d+))?: (?<shipped>[^\n]*)\n)?(?<sql>[^-].*)\z/s or die "no form of query: $_";
		{ name => $+{name}, shipped => $+{shipped}, since => $+{since} // 0, sql => $+{sql} }
	} @blocks;
}

1;
