#!/bin/sh
# Fails when the shared library needs a C++ runtime: an exception could then cross into the server, or an ereport skip a
# destructor. Fails also when it runs code at load, for which every session and every parallel worker would pay. For libraries of
# other machines, NM and OBJDUMP name the tools. A weak __cxa_finalize is in every shared object and is allowed.
set -eu
library=$1
symbols=$("${NM:-nm}" -D --undefined-only "$library")
undefined=$(printf '%s\n' "$symbols" |
    awk '$NF !~ /^__cxa_finalize(@|$)/ && $NF ~ /^(_Unwind_|__cxa_|__gxx_|_Zn[aw]|_Zd[al]|_ZS|_ZNS|_ZNK?S)/ { print $NF }')
headers=$("${OBJDUMP:-objdump}" -p "$library")
needed=$(printf '%s\n' "$headers" | awk '$1 == "NEEDED" && $2 ~ /libstdc\+\+|libc\+\+|libgcc_s/ { print $2 }')
if [ -n "$undefined$needed" ]; then
    echo "$library needs a C++ runtime (see CONTRIBUTING.md, \"The boundary\"):" >&2
    printf '%s\n' "$undefined" "$needed" | grep . >&2
    exit 1
fi

initializers=$("${NM:-nm}" -C "$library" | grep -E ' (_GLOBAL__(sub_)?I_|__cxx_global_var_init|__static_initialization_and_destruction)' || true)
if [ -n "$initializers" ]; then
    echo "$library runs code when it is loaded; make what it initializes constinit:" >&2
    printf '%s\n' "$initializers" >&2
    exit 1
fi
