#!/usr/bin/env bash
# Fails where two places that must name the same version, or the same packages, differ.
#
# The version is that of simhash.control: 1.0 there is 1.0.0 for PGXN and Debian. The libraries that the build needs are those of
# debian/control.in.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"
cd "$root"

failed=0
wrong() {
    say "$*"
    failed=1
}

version=$(extension_version)
release=$(release_version)

# ---- META.json, which PGXN reads ----

perl -MJSON::PP -e '
    my $release = shift;
    open my $file, "<", "META.json" or die "META.json: $!\n";
    my $meta = decode_json(do { local $/; <$file> });
    for my $key (qw(name version abstract maintainer license provides meta-spec)) {
        die "META.json lacks \"$key\"\n" unless $meta->{$key};
    }
    for my $part ($meta, values %{ $meta->{provides} }) {
        die "META.json has version $part->{version}, simhash.control $release\n" if $part->{version} ne $release;
    }
    for my $name (map { @$_{qw(file docfile)} } values %{ $meta->{provides} }) {
        die "META.json: there is no file $name\n" unless -e $name;
    }' "$release" || failed=1

# ---- the version elsewhere ----

compgen -G "simhash--$version.sql" >/dev/null || compgen -G "simhash--*--$version.sql" >/dev/null ||
    wrong "no SQL script leads to version $version"
grep -m 1 '^## ' CHANGELOG.md | grep "^## $release (" >/dev/null || wrong "CHANGELOG.md does not begin with version $release"
head -n 1 debian/changelog | grep " ($release-[0-9]*) " >/dev/null || wrong "debian/changelog does not begin with version $release"
grep "^Version: *$release$" packaging/simhash.spec >/dev/null || wrong "packaging/simhash.spec has another version than $release"

# ---- packages ----

# pg_buildext makes debian/control from control.in, for the servers that are installed.
diff <(sed 's/PGVERSION/N/g' debian/control.in) <(sed -E 's/\b(postgresql-|PostgreSQL )[0-9]+/\1N/' debian/control) ||
    wrong "debian/control differs from debian/control.in (PG_UPDATECONTROL=yes pg_buildext checkcontrol)"
diff <(library_packages) <(grep 'apt-get install .* g++ ' README.md | grep -o '\blib[^ ]*' | sort) ||
    wrong "README.md names other libraries than debian/control.in (>)"

[ "$failed" = 0 ]
