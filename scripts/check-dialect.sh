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
    refuse 'no const on a local value' \
        '^ +((for|if) \()?const (unsigned )?[A-Za-z_][A-Za-z_0-9:]*(<[^;=(){}&*]*>)? [a-z][a-z_0-9]*[a-z0-9]( [=:]( |$)|\(|\{)' $source
}
exit $failed
