#!/bin/sh
# Fails where code departs from the style of CONTRIBUTING.md in a way that clang-tidy 14 does not see.
set -eu
cd "$(dirname "$0")/.."
failed=0
# refuse WHAT PATTERN FILE...: no line of the files may match; comments are left out.
refuse() {
    what=$1
    pattern=$2
    shift 2
    if grep -nE "$pattern" "$@" | grep -vE '^[^:]*:[0-9]*: *//' >&2; then
        echo "$what" >&2
        failed=1
    fi
}
code=$(find src test -name '*.[ch]pp' | sort)
source=$(find src -name '*.[ch]pp' | sort)
name='[A-Za-z_][][A-Za-z_0-9.>-]*'
# shellcheck disable=SC2086
{
    refuse 'i++, not ++i, where the value is not used' "(^ *|\) |\{ |; )(\+\+|--)$name(;|\))" $code
    refuse 'typename, not class, for a type parameter' 'template <([^>]*, )?class ' $code
    refuse 'sort_ascending, not std::sort without a comparison, which needs the library of libc++' 'std::sort\([^,]+, [^,]+\);$' $source
    refuse 'no const on a local value' \
        '^ +((for|if) \()?const (unsigned )?[A-Za-z_][A-Za-z_0-9:]*(<[^;=(){}&*]*>)? [a-z][a-z_0-9]*[a-z0-9]( [=:]( |$)|\(|\{)' $source
}
# Comments, which clang-format leaves as they are.
# shellcheck disable=SC2086
perl -CSD -lne 'if (length > 100) { print STDERR "$ARGV:$.: ", length, " columns"; $failed = 1 }
    close ARGV if eof; END { exit $failed }' $source || failed=1
# The C symbol of an SQL function is its name, after simhash_ where it does not begin so: the server
# loads all libraries into one space of names. Where the first arguments of functions of one name
# differ in type, the type follows: simhash_hamming_bit.
perl -0777 -ne '
    while (/CREATE FUNCTION (\w+)\(([^;]*?)\)\s+RETURNS[^;]*?MODULE_PATHNAME.(?:, .(\w+).)?/g) {
        my ($name, $arguments, $symbol) = ($1, $2, $3 // $1);
        # A type stands after the name of its argument, if that has one.
        my ($type) = $arguments =~ /^(?:"?\w+"? )??(\w+(?:\[\])?)(?: DEFAULT|,|$)/;
        push @functions, [$name, $type =~ s/\[\]$/_array/r, $symbol];
        $types{$name}{$functions[-1][1]} = 1;
    }
    for (@functions) {
        my ($name, $type, $symbol) = @$_;
        my $expected = ($name =~ /^simhash(_|$)/ ? $name : "simhash_$name") .
            (keys %{$types{$name}} > 1 ? "_$type" : "");
        next if $symbol eq $expected;
        print STDERR "$ARGV: the C symbol of $name is $symbol, expected $expected\n";
        $failed = 1;
    }
    END { exit $failed }' simhash--*.sql || failed=1
exit $failed
