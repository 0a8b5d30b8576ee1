// The normalised, folded form of characters: Unicode's NFKC_Casefold, by tables of Unicode 15.0
// that are part of the source (normal_form.inc). No library is used, because fingerprints are
// stored data and must not change when the system gets a newer Unicode. For the same reason code
// points that Unicode 15.0 does not assign stay as they are, and no mark composes with them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace simhash {

// A segment is a code point and those after it that join it. Longer ones are cut (as Unicode's
// Stream-Safe Text Format does), so that the work for each code point is bounded.
constexpr int kMaxSegment = 32;
constexpr int kMaxNormalisedSegment = 36 * kMaxSegment;

// Normalises and folds a segment of 1..kMaxSegment code points, none of them kIgnored; `out` has
// room for kMaxNormalisedSegment code points. Returns the number written.
int normalise_segment(const uint32_t* segment, int length, uint32_t* out);

} // namespace simhash
