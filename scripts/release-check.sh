#!/usr/bin/env bash
# Checks that a release can be tagged (CONTRIBUTING.md, "Release a version"). Fails if something is missing.
#
#   make release-check
#
# Installs missing packages. .ci/run runs last and takes most of the time.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"
cd "$root"

version=$(extension_version)
release=$(release_version)
# The tag of the last release, if there was one.
last_tag=$(git tag --list 'v*' --sort=-version:refname --merged HEAD | head -n 1)

# ---- the checks: each prints what is wrong, and fails ----

tree_is_clean() {
    local changed
    changed=$(git status --porcelain)
    [ -z "$changed" ] || { say "uncommitted changes:" "$changed"; return 1; }
}
changelog_is_dated() {
    grep -qE "^## $release \([0-9]{4}-[0-9]{2}-[0-9]{2}\)$" CHANGELOG.md ||
        { say "CHANGELOG.md has no date for $release: ## $release (YYYY-MM-DD)"; return 1; }
}
status_is_stable() {
    grep -q '"release_status": "stable"' META.json || { say "META.json: \"release_status\" is not \"stable\""; return 1; }
}
# There is an upgrade script from the last release, and the upgrade scripts that it contained are unchanged.
upgrade_is_there() {
    local last script
    [ -n "$last_tag" ] || { say "no release before this one"; return 0; }
    last=$(git show "$last_tag:simhash.control" | sed -n "s/^default_version = '\(.*\)'/\1/p")
    [ "$last" != "$version" ] || { say "$last_tag has released version $version"; return 1; }
    [ -e "simhash--$last--$version.sql" ] || { say "there is no simhash--$last--$version.sql"; return 1; }
    for script in $(git ls-tree --name-only "$last_tag" | grep '^simhash--.*--.*\.sql$'); do
        git diff --quiet "$last_tag" HEAD -- "$script" || { say "$script is not what $last_tag released"; return 1; }
    done
}
zip_builds() {
    scripts/dist.sh "$workspace"
    (cd "$workspace" && unzip -q "simhash-$release.zip")
    quiet_make "$workspace/simhash-$release" EXTRA_CXXFLAGS=-Werror all
    quiet_make "$workspace/simhash-$release" DESTDIR="$workspace/installed" install
    quiet_make "$workspace/simhash-$release" clean
}
# Without the tests, which the package would run for each server: they come at the end, for one.
package_is_faultless() {
    local log=$workspace/package.log
    (cd "$workspace/simhash-$release" &&
        DEB_BUILD_OPTIONS="nocheck parallel=$(nproc)" DEB_BUILD_PROFILES=nocheck dpkg-buildpackage -us -uc -b) >"$log" 2>&1 ||
        { tail -n 60 "$log"; return 1; }
    chown -R "$server_user" "$workspace"
    as_server_user lintian --pedantic --display-info --fail-on error,warning,info,pedantic "$workspace"/*.changes
}

# ---- the run ----

failed=()
step() { # WHAT COMMAND...
    printf '== %s\n' "$1"
    # Not as the condition of an `if`: bash would go on after a command of a function that fails.
    set +e
    (
        set -e
        "${@:2}"
    )
    [ $? = 0 ] || failed+=("$1")
    set -e
}

install_missing release
find_pg_config
start_workspace release
step "everything is committed" tree_is_clean
step "versions and packages agree" scripts/check-metadata.sh
step "CHANGELOG.md is dated" changelog_is_dated
step "META.json says stable" status_is_stable
step "the last release can be updated" upgrade_is_there
step "the zip for PGXN builds" zip_builds
step "Debian's package is built, without a finding of lintian" package_is_faultless
step "checks and tests" .ci/run

if [ ${#failed[@]} -gt 0 ]; then
    printf '\nnot ready for release %s:\n' "$release"
    printf '    %s\n' "${failed[@]}"
    exit 1
fi
printf '\nready for release %s: git tag v%s\n' "$release" "$release"
