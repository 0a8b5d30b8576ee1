#!/usr/bin/env bash
# Writes simhash-VERSION.zip, the form in which PGXN takes a release, from what is committed. Prints the file's name.
#
#   scripts/dist.sh [FOLDER]     into the top of the source, or into FOLDER
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"

name=simhash-$(release_version)
zip=$(cd "${1:-$root}" && pwd)/$name.zip
[ -z "$(git -C "$root" status --porcelain)" ] || say "what is not committed is not in it"
git -C "$root" archive --format=zip --prefix="$name/" --output="$zip" HEAD
printf '%s\n' "$zip"
