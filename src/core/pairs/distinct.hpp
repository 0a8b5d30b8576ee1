// The distinct fingerprints among many, in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/bits/pause.hpp"

namespace simhash {

// Sorts fingerprints and drops repeated ones. Returns the number left. scratch has the same size.
size_t sort_distinct(std::span<uint64_t> fingerprints, std::span<uint64_t> scratch, Pause pause);

} // namespace simhash
