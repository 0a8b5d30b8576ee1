// All pairs of more fingerprints than memory holds: the search of near_pairs.hpp with its outermost
// level in temporary files. See spilled_pairs.cpp.
//
// Nothing here allocates, and nothing needs to be cleaned up: a `Pause` and the functions of the
// files may leave by longjmp.
#pragma once

#include "core/bits/pause.hpp"
#include "core/pairs/fingerprint_array.hpp"
#include "core/pairs/near_pairs.hpp"

namespace simhash {

// Temporary files. The caller owns them, and closes those that a longjmp leaves behind. Each is
// written from beginning to end, and then read from beginning to end, once or more.
struct FingerprintFiles {
    void* context;
    void* (*create)(void* context);
    void (*write)(void* file, const uint64_t* fingerprints, size_t count);
    void (*rewind)(void* file);
    void (*read)(void* file, uint64_t* fingerprints, size_t count); // expects that many to be left
    void (*remove)(void* file);
};

// Fingerprints in a file; without fingerprints there is no file.
struct FingerprintFile {
    void* file = nullptr;
    uint64_t count = 0;
};

// Fingerprints divided among files by some of their bits.
struct DividedFingerprints {
    static constexpr int kMaxBits = 6;

    uint64_t bits = 0; // at most kMaxBits
    FingerprintFile parts[1 << kMaxBits];
};

// A set while it is collected. Fingerprints may be repeated.
class SpilledSet {
  public:
    explicit SpilledSet(const FingerprintFiles& files) : files_(files) {}

    void add(const FingerprintArray& fingerprints, Pause pause);

    uint64_t count() const { return count_; }

    void release();

  private:
    friend class SpilledPairsSearch;
    friend void find_spilled_pairs(SpilledSet*, SpilledSet*, const FingerprintArray&, int,
                                   const PairReceiver&, Pause);

    FingerprintFiles files_;
    uint64_t count_ = 0;
    uint64_t first_ = 0;
    uint64_t varying_ = 0; // bits in which some fingerprints differ
    DividedFingerprints divided_;
};

constexpr size_t kLeastSpilledMemory = 1024; // fingerprints

// As find_near_pairs, or as find_pairs_between if b is not null. Uses up the sets' files. memory
// has room for the fingerprints of both sets that are held at a time, at least kLeastSpilledMemory.
void find_spilled_pairs(SpilledSet* a, SpilledSet* b, const FingerprintArray& memory, int radius,
                        const PairReceiver& receiver, Pause pause);

} // namespace simhash
