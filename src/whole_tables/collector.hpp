// Collects the distinct fingerprints among many, and searches them for near pairs (core/pairs).
// Repeated fingerprints are dropped while they are collected. If the distinct ones exceed the limit
// of memory, they go to a temporary file, and the search works with files.
#pragma once

#include <algorithm>
#include <optional>

#include "core/pairs/near_pairs.hpp"
#include "server/arguments.hpp"
#include "server/sorter.hpp"

namespace simhash {

constexpr uint64_t kSignBit = uint64_t{1} << 63;

// With the sign bit flipped fingerprints have the order of bigint, and the same distances.
inline uint64_t to_ordered(int64 fingerprint) { return uint64_t(fingerprint) ^ kSignBit; }

inline int64 from_ordered(uint64_t ordered) { return int64(ordered ^ kSignBit); }

// Raises an error where the radius is not between 0 and `greatest`.
void check_radius(int32 radius, int greatest);

// Whenever the memory is full, it is sorted and repeated fingerprints are dropped. If few were
// repeated, the others go to a file as a sorted run.
class Collector {
  public:
    // In the current memory context: a set that is collected and searched in about this memory, in
    // bytes. other: a finished set with which this one shares the memory because both are searched
    // together, or null
    explicit Collector(size_t bytes, const Collector* other = nullptr);

    void add(uint64_t fingerprint) {
        if (buffer_.is_full())
            make_room();
        buffer_.add(fingerprint);
    }

    void finish();

    bool is_spilled() const { return runs_.exists(); }

    // The set in order, if it is not spilled.
    FingerprintArray array() { return {buffer_.data(), buffer_.scratch().data(), buffer_.count()}; }

    // Calls take(fingerprint) for the finished set in order, until it returns false.
    bool each(const auto& take) {
        bool goes_on = true;
        std::optional<uint64_t> last;
        auto take_batch = [&](std::span<const uint64_t> batch) {
            for (size_t i = 0; i < batch.size() && goes_on; i++) {
                if (batch[i] != last)
                    goes_on = take(batch[i]);
                last = batch[i];
            }
        };
        if (!is_spilled()) {
            take_batch(buffer_.entries());
            return goes_on;
        }
        buffer_.release();
        Merge<uint64_t> runs;
        visit_sorted_runs<uint64_t>(runs_, [&](const SortedRun<uint64_t>& run) { runs.add(run); });
        runs.begin(most_ * sizeof(uint64_t));
        for (auto batch = runs.next(); !batch.empty() && goes_on; batch = runs.next())
            take_batch(batch);
        runs.release();
        return goes_on;
    }

    // Moves all of the set to a file, and releases the memory. The caller closes the file.
    TemporaryFile distinct_file();

    void release();

    // The most fingerprints that memory holds, of this set and the other.
    size_t most() const { return most_; }

  private:
    void make_room();
    void spill();

    size_t most_;
    SortBuffer<uint64_t> buffer_;
    TemporaryFiles files_;
    TemporaryFile runs_; // sorted runs of what did not fit
};

// Finds the near pairs of finished sets: within a, or, where b is not null, between a and b. Takes
// the memory of both. Releases the memory and files of both.
void find_pairs(Collector* a, Collector* b, int32 radius, const PairReceiver& receiver);

} // namespace simhash
