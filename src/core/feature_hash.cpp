// The hash of one feature. XXH3 is compiled in from the xxHash package's header: its output is
// fixed since version 0.8.0.
#include "core/feature_hash.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

static_assert(XXH_VERSION_NUMBER >= 800, "XXH3 is stable from xxHash 0.8.0 on");

namespace simhash {

static uint64_t fnv1(const uint8_t* text, size_t bytes) {
    uint64_t hash = 0xCBF29CE484222325;
    for (size_t i = 0; i < bytes; i++)
        hash = (hash * 0x100000001B3) ^ text[i];
    return hash;
}

uint64_t hash_feature(HashKind kind, const uint8_t* text, size_t bytes) {
    return kind == HashKind::kXxh3 ? XXH3_64bits(text, bytes) : fnv1(text, bytes);
}

} // namespace simhash
