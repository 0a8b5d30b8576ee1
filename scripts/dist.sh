#!/usr/bin/env bash
# Writes simhash-VERSION.zip, a release for PGXN, from the last commit. Prints the file's name.
#
#   scripts/dist.sh [FOLDER]     into the top of the source, or into FOLDER
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"

name=simhash-$(release_version)
zip=$(cd "${1:-$root}" && pwd)/$name.zip
[ -z "$(git -C "$root" status --porcelain)" ] || say "the zip does not contain uncommitted changes"
git -C "$root" archive --format=zip --prefix="$name/" --output="$zip" HEAD
printf '%s\n' "$zip"
