// The search of near pairs among codes: core/pairs/near_codes.hpp in memory that is limited as
// that of a hash table is. Codes are numbered in their order, from 0.
//
// What does not fit into memory is in paged arrays and other temporary files. Then pairs that are
// near in a lane are verified in batches, in an order in which their codes are read nearly in
// sequence.
#pragma once

#include "server/pg.hpp"

#include "core/pairs/near_codes.hpp"
#include "server/paged_array.hpp"
#include "tables/codes.hpp"
#include "tables/collector.hpp"
#include "tables/lane_directory.hpp"

namespace simhash {

// What a distinct code takes in memory: while it is collected twice the code and what sorts it, and
// then its part of the pages, of a sort, of the search of lanes, and of the results.
// A code is in one page, and its entry (lane, number) in another.
constexpr size_t bytes_of_pages(int lanes) {
    return size_t(lanes) * sizeof(uint64_t) + sizeof(Entry);
}
constexpr size_t bytes_of_results(int lanes) {
    return size_t(lanes) * sizeof(uint64_t) + sizeof(Entry);
}
// The terms are the pages, the sort of entries with its scratch, the search of lanes, and the
// results.
constexpr size_t bytes_per_code(int lanes) {
    return bytes_of_pages(lanes) + 2 * sizeof(Entry) + kBytesOfSearch + bytes_of_results(lanes);
}

class NearCodes {
  public:
    // Takes the codes of one set, or of two, and releases these. At least one code is there. All
    // memory is of the current memory context, which must stay.
    NearCodes(CodeSet* a, CodeSet* b) : NearCodes(a, b, false) {}

    // Takes the codes of a set that come with rows. rows: gets (row, number) of each code. The
    // object must stay where it is, until the memory context is reset or deleted, which releases
    // it. The end of a statement does not.
    NearCodes(CodeSet* set, ExternalSorter<Entry>* rows);

    // The memory that the results of a search may have, in bytes.
    static size_t memory_of_results(int lanes) { return share(bytes_of_results(lanes), lanes); }
    // An entry needs scratch of the same size.
    static size_t memory_to_sort(int lanes) { return share(2 * sizeof(Entry), lanes); }

    size_t count(int set) const { return sets_[set].codes.size(); }
    int bits() const { return bits_; }

    // Finds all pairs of numbers: within one set a < b, between two a is of the first.
    void search(int32 radius, const PairReceiver& receiver);

    // A code as a value of type bit, in the current memory context.
    Datum code(int set, size_t number);

    int distance(size_t a, size_t b);

    void release();

    // ---- what NearCodesSearch asks for ----

    bool between() const { return between_; }
    void read(int set, size_t number, uint64_t* lanes) { sets_[set].codes.read(number, lanes); }
    void begin_lane(int lane);
    // Returns (lane, number of the code) at a place in the order of the present lane.
    Entry place(int set, size_t place) { return sets_[set].places[place]; }
    size_t place_of(int set, uint64_t lane) {
        return sets_[set].directory.place_of(lane, [&](size_t i) { return place(set, i).key; });
    }
    void find_pairs(int radius, const PairReceiver& receiver);

    // A candidate is two codes whose present lanes are near. In memory it is verified at once. If
    // codes are in files, candidates wait, and are verified in the order of the parts of the file
    // that their codes are in: each part is read once for many candidates.
    template <typename Verify>
    void take(uint32_t a, uint32_t b, const Verify& verify) {
        if (!has_file_) {
            verify(a, b);
            return;
        }
        if (candidates_.is_full())
            verify_rest(verify);
        // The numbers of codes and of parts have 32 bits each (check_count()).
        candidates_.add({uint64_t(a) / part_codes_ << 32 | b / part_codes_, uint64_t(a) << 32 | b});
    }

    template <typename Verify>
    void verify_rest(const Verify& verify) {
        candidates_.sort();
        for (const Entry& candidate : candidates_.entries()) {
            CHECK_FOR_INTERRUPTS();
            verify(uint32_t(candidate.tid >> 32), uint32_t(candidate.tid));
        }
        candidates_.clear();
    }

  private:
    struct Set {
        PagedRecords codes;
        PagedArray<Entry> places; // (lane, number), in order
        LaneDirectory directory;  // of places
        std::optional<Collector> lanes;
    };

    NearCodes(CodeSet* a, CodeSet* b, bool unowned_files);

    // Returns the part of the memory limit that a code's `bytes` are of all its bytes. It computes
    // in floating point, because the product could have more than 64 bits.
    static size_t share(size_t bytes, int lanes) {
        return size_t(double(get_hash_memory_limit()) * double(bytes) /
                      double(bytes_per_code(lanes)));
    }
    int set_count() const { return between_ ? 2 : 1; }
    void load(CodeSet* from, ExternalSorter<Entry>* rows, Set* to);
    void order_by(int lane, Set* set);

    int bits_, lanes_;
    bool between_;
    PagePool pool_;
    Set sets_[2];
    bool has_file_ = false;        // whether some codes are not in memory
    size_t part_codes_;            // codes of a part; several parts are in memory together
    SortBuffer<Entry> candidates_; // (parts of a and b, a and b)
    MemoryContextCallback releasing_;
};

} // namespace simhash
