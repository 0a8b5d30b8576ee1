// The hash of one feature: 64 bits of its UTF-8 bytes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace simhash {

enum class HashKind : uint8_t {
    kXxh3, // XXH3, 64 bits, seed 0
    kFnv1, // FNV-1, 64 bits: what several other libraries use
};

uint64_t hash_feature(HashKind kind, const uint8_t* text, size_t bytes);

} // namespace simhash
