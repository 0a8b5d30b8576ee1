// The normalised form of characters, by tables of Unicode 15.0 that are part of the source
// (normal_form.inc): Unicode's NFKC_Casefold without what may be left out in writing, such as
// accents. test/known_answers.py has the definition. No library is used, because fingerprints are
// stored data and must not change when the system gets a newer Unicode. For the same reason code
// points that Unicode 15.0 does not assign stay as they are, and no mark composes with them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace simhash {

// A segment is a code point and those after it that join it. Longer ones are cut (as Unicode's
// Stream-Safe Text Format does), so that the work for each code point is bounded.
constexpr int kMaxSegment = 32;
constexpr int kMaxNormalisedSegment = 18 * kMaxSegment;

// The form of a code point by itself, if that is one code point, else 0.
uint32_t form_of_one(uint32_t code_point);

// The code point that two compose to; 0 if they do not compose.
uint32_t composite(uint32_t first, uint32_t second);

// Normalises a segment of 1..kMaxSegment code points, none of them kIgnored; `out` has
// room for kMaxNormalisedSegment code points. Returns the number written.
int normalise_segment(const uint32_t* segment, int length, uint32_t* out);

} // namespace simhash
