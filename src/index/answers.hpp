// What the posting table's leaves answered to vacuum, which asks them whether fingerprints that
// lost a posting have any left. README.md, "Vacuum", says how long an answer holds.
#pragma once

#include "index/tree.hpp"

#include <algorithm>

namespace simhash {

// A leaf that was asked, and what it said: as long as it has this LSN, none of the fingerprints
// that are asked for, from `first` to `last`, has a posting.
struct Answer {
    uint64_t first, last;
    XLogRecPtr lsn;
    BlockNumber block;
    Buffer buffer; // that held it then, shared
};

class Answers {
  public:
    // For so many fingerprints there is room for one answer, as they mostly share leaves ...
    static constexpr size_t kSharingLeaf = 32;
    // ... which takes so many bytes for each: two answers, as earlier ones are a first guess.
    static constexpr size_t kBytesEach = 2 * sizeof(Answer) / kSharingLeaf;

    Answers() = default;
    // `most` answers at most are kept. `layout` must stay.
    Answers(Relation index, const Layout* layout, size_t most)
        : index_(index), layout_(layout), most_(std::min(most, size_t{UINT32_MAX})) {}
    // Makes room for the answers about `count` fingerprints; there is no answer before.
    void begin(size_t count);
    void free();

    // Asks for fingerprints, ascending and distinct: keeps those that have no posting, in order,
    // and returns their number. To be called again for those that it kept, or, after forget(), for
    // others. Expects no lock.
    size_t keep_absent(uint64_t* fingerprints, size_t count);
    // Nobody has an answer then.
    void forget() { count_ = 0; }
    bool is_empty() const { return count_ == 0; }

    // The answer that one of those that keep_absent() kept has, or nullptr. Has its leaf's page
    // brought nearer.
    const Answer* look_up(uint64_t fingerprint) const;
    // Whether that fingerprint has no posting still. May be called holding a lock in a block table;
    // leaves no other.
    bool still_absent(uint64_t fingerprint, const Answer* answer);
    // How often so far still_absent() did not find the leaf where it was, or had to ask again.
    size_t searches() const { return searches_; }

  private:
    void put(const Answer& answer);
    bool holds(const Answer& answer);
    size_t ask_leaf(const uint64_t* fingerprints, size_t count, uint64_t* kept, size_t* kept_count);
    void count_slots();

    Relation index_;
    const Layout* layout_;
    Answer* answers_ = nullptr; // [limit_] ascending; from the last call of keep_absent()
    Answer* earlier_ = nullptr; // [limit_] from the call before
    size_t count_ = 0, limit_ = 0, most_ = 0;
    // The leading bits of a fingerprint are its slot: how many answers begin before each slot.
    static constexpr int kSlotBits = 14;
    static constexpr int kSlots = 1 << kSlotBits;
    static int slot_of(uint64_t fingerprint) {
        return int(fingerprint >> (kFingerprintBits - kSlotBits));
    }
    uint32* before_slot_ = nullptr; // [kSlots + 1]
    size_t searches_ = 0;
};

} // namespace simhash
