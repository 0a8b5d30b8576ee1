// Finds lanes in a sorted array of them. For each beginning, the first few bits, it knows where the
// lanes with it are.
#pragma once

#include <algorithm>
#include <bit>

#include "core/bits/fingerprint.hpp"
#include "tables/collector.hpp"

namespace simhash {

//
// With 2 bits, for the lanes 0001, 0110, 0111, 1100 (of 4 bits here):
//
//     beginning    00   01   10   11   end
//     begins_       0    1    3    3     4
//
// The lanes that begin with 01 are at places 1 and 2. Lanes that are spread evenly share their
// beginning with few others, so the binary search between the two places has a step or two.
class LaneDirectory {
  public:
    // Of `count` lanes, in the current memory context. Uses about memory_bytes at most.
    // lane_at(place): the lane at a place of the array
    void make(size_t count, size_t memory_bytes, const auto& lane_at) {
        // 1 MB of places, which a processor's cache holds.
        constexpr int kMostBits = 18;
        Assert(count <= UINT32_MAX);
        size_t entries = std::min(count, memory_bytes / sizeof(uint32_t));
        size_t filled = 0;
        // About one lane for each beginning, and no more beginnings than the memory has room for.
        bits_ = std::clamp(int(std::bit_width(entries)) - 1, 1, kMostBits);
        begins_ = allocate<uint32_t>(CurrentMemoryContext, beginnings() + 1);
        for (size_t i = 0; i < count; i++) {
            CHECK_FOR_INTERRUPTS();
            // Beginnings that no lane has lie between that of the last lane and this one: they
            // begin here, too, and are empty.
            for (size_t beginning = beginning_of(lane_at(i)); filled <= beginning;)
                begins_[filled++] = uint32_t(i);
        }
        while (filled <= beginnings())
            begins_[filled++] = uint32_t(count);
    }

    // The first place of a lane that is there.
    size_t place_of(uint64_t lane, const auto& lane_at) const {
        // The lane is there: its first place is in low .. high - 1. The search ends with one.
        size_t low = begins_[beginning_of(lane)], high = begins_[beginning_of(lane) + 1];
        while (high - low > 1) {
            size_t middle = (low + high - 1) / 2;
            if (lane_at(middle) < lane)
                low = middle + 1;
            else
                high = middle + 1;
        }
        return low;
    }

    // How many beginnings there are: 2 to the power of bits().
    size_t beginnings() const { return size_t{1} << bits_; }
    int bits() const { return bits_; }

    void release() {
        if (begins_ != nullptr)
            pfree(begins_);
        begins_ = nullptr;
    }

  private:
    size_t beginning_of(uint64_t lane) const { return lane >> (kFingerprintBits - bits_); }

    int bits_ = 0;
    uint32_t* begins_ = nullptr; // [beginnings() + 1]: where the lanes of each begin; the end
};

} // namespace simhash
