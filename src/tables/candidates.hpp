// Candidates among models: pairs of models whose signatures are within a radius.
// near_fingerprints.cpp explains the search by signatures of one lane.
#pragma once

#include <optional>

#include "core/pairs/near_codes.hpp"
#include "server/sorter.hpp"
#include "tables/collector.hpp"
#include "tables/lane_directory.hpp"
#include "tables/models.hpp"

namespace simhash {

// Receives pairs of models by their rows: within one set a < b, between two a is of the first.
struct CandidateReceiver {
    // Called for each pair once, in no particular order. False ends the search.
    bool (*pair)(void* context, RowNumber a, RowNumber b, int distance);
    void* context;
};

// Tells of which signatures all models are linked to each other, to leave out their pairs: for
// linked groups, where else the number of pairs grows with the square of a group's size.
struct LinkTeller {
    // The group that the row is in now. Groups only grow. Null if none are to be left out.
    RowNumber (*group_of)(void* context, RowNumber row) = nullptr;
    void* context = nullptr;
};

// Finds the candidates of one set, or between two if b is not null, in about this memory, in bytes.
void find_near_fingerprints(SignatureList* a, SignatureList* b, int radius, size_t memory,
                            const CandidateReceiver& receiver, const LinkTeller& links);

// Candidates among models whose signatures are codes: core/pairs/near_codes.hpp in memory that is
// limited. Codes are numbered in their order, from 0.
//
// What does not fit into memory is in paged arrays and other temporary files. Then pairs that are
// near in a lane are verified in batches, in an order that reads their codes nearly in sequence.
class NearCodes {
  public:
    // Of one set, or, where b is not null, of two, whose signatures are of the same size. Uses
    // about `memory` bytes beside the pool.
    NearCodes(SignatureList* a, SignatureList* b, PagePool* pool, size_t memory);

    void search(int radius, const CandidateReceiver& receiver);

    // ---- what NearCodesSearch asks for ----

    bool between() const { return sets_[1].codes != nullptr; }
    size_t count(int set) const { return sets_[set].codes->size(); }
    void read(int set, size_t number, uint64_t* lanes) {
        std::copy_n(sets_[set].codes->signature(number), lanes_, lanes);
    }
    void begin_lane(int lane);
    // Returns (lane, number of the code) at a place in the order of the present lane.
    Pair place(int set, size_t place) { return sets_[set].places[place]; }
    size_t place_of(int set, uint64_t lane) {
        return sets_[set].directory.place_of(lane, [&](size_t i) { return place(set, i).first; });
    }
    void find_pairs(int radius, const PairReceiver& receiver);

    // A candidate is two codes whose present lanes are near. In memory it is verified at once. If
    // codes are in files, candidates wait, and are verified in the order of the parts of the file
    // that their codes are in: each part is read once for many candidates.
    void take(uint32_t a, uint32_t b, const auto& verify) {
        if (!has_file_) {
            verify(a, b);
            return;
        }
        if (candidates_.is_full())
            verify_rest(verify);
        // The numbers of codes and of parts have 32 bits each.
        candidates_.add({uint64_t(a) / part_codes_ << 32 | b / part_codes_, uint64_t(a) << 32 | b});
    }

    void verify_rest(const auto& verify) {
        candidates_.sort();
        for (const Pair& candidate : candidates_.entries()) {
            CHECK_FOR_INTERRUPTS();
            verify(uint32_t(candidate.second >> 32), uint32_t(candidate.second));
        }
        candidates_.clear();
    }

  private:
    struct Set {
        SignatureList* codes;
        PagedArray<Pair> places; // (lane, number), in order
        LaneDirectory directory; // of places
        std::optional<Collector> lanes;
    };

    int set_count() const { return between() ? 2 : 1; }
    void order_by(int lane, Set* set);
    static bool receive_codes(void* codes, size_t a, size_t b, int distance);

    int lanes_;
    Set sets_[2];
    size_t memory_to_sort_, memory_of_lanes_;
    size_t memory_of_directory_; // of each set
    CandidateReceiver receiver_ = {};
    bool has_file_ = false;       // whether some codes are not in memory
    size_t part_codes_;           // codes of a part; several parts are in memory together
    SortBuffer<Pair> candidates_; // (parts of a and b, a and b)
};

} // namespace simhash
