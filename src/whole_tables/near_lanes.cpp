// Candidates: pairs of models of which a lane is within a radius. See the header.
//
// The distinct lanes are searched for near pairs (core/pairs). A pair of lanes stands for all pairs
// of models that have them. To look up the models of each pair as it comes would take two random
// accesses. So pairs of lanes are collected, and brought to their models by two sorts, as two merge
// joins do:
//
//     (lane of a, lane of b)  sorted by a, with the models of a  ->  (lane of b, row of a)
//     (lane of b, row of a)   sorted by b, with the models of b  ->  (row of a, row of b)
#include "whole_tables/near_lanes.hpp"

#include "whole_tables/collector.hpp"
#include "whole_tables/groups.hpp"

namespace simhash {
namespace {

// What was noted of a lane: all of its models were in the group of this row.
struct LinkedLane {
    uint64_t lane;
    RowNumber group;
};

class NearLanes {
  public:
    // The parts of the memory: two thirds for the search of the lanes, a sixth for each sort of
    // pairs.
    NearLanes(Models::List* a, Models::List* b, size_t memory, const NearLanesReceiver& receiver,
              Links* links, bool are_values)
        : between_(b != nullptr), are_values_(are_values), memory_(memory), receiver_(receiver),
          links_(links), sets_{{a, {}}, {b, {}}}, pairs_(memory / 6), half_done_(memory / 6) {}

    // False if the receiver has ended it.
    bool run(int radius) {
        begin(&sets_[0]);
        if (between_)
            begin(&sets_[1]);
        else
            give_equal();
        if (links_ != nullptr)
            make_notes();
        if (!is_ended_)
            find_near(radius);
        if (!is_ended_)
            look_up_first();
        release();
        return !is_ended_;
    }

  private:
    struct Set {
        Models::List* models;
        std::optional<Collector> lanes; // each once

        uint64_t lane(size_t i) const { return (*models)[i].first; }
        RowNumber row(size_t i) const { return RowNumber((*models)[i].second); }
    };

    // Models of one lane.
    struct Run {
        size_t begin = 0, end = 0;
    };

    Set& second() { return sets_[between_ ? 1 : 0]; }

    void begin(Set* set) {
        set->lanes.emplace(memory_ / 3 * 2, set == &sets_[1] ? &*sets_[0].lanes : nullptr);
        for (size_t i = 0; i < set->models->size(); i++) {
            CHECK_FOR_INTERRUPTS();
            if (i == 0 || set->lane(i) != set->lane(i - 1))
                set->lanes->add(set->lane(i));
        }
        set->lanes->finish();
    }

    // Moves the run forward to the models of a lane, which is there. Lanes that are asked for one
    // after the other lie close together or far apart.
    void advance(const Set& set, uint64_t lane, Run* run) {
        if (run->begin < run->end && set.lane(run->begin) == lane)
            return;
        auto end = int64(run->end);
        int64 before = last_that_holds(end - 1, int64(set.models->size()), end, int64{1},
                                       [&](int64 i) { return set.lane(size_t(i)) < lane; });
        *run = run_from(set, size_t(before + 1));
        if (notes_ != nullptr)
            note(set, *run);
    }

    static Run run_from(const Set& set, size_t begin) {
        size_t end = begin + 1;
        while (end < set.models->size() && set.lane(end) == set.lane(begin))
            end++;
        return {begin, end};
    }

    // ---- pairs of models ----

    // Of one set, near lanes are different ones. Models of equal lanes come first.
    void give_equal() {
        const Set& set = sets_[0];
        for (size_t i = 0; i < set.models->size() && !is_ended_;) {
            Run run = run_from(set, i);
            for (; i < run.end; i++)
                for (size_t j = i + 1; j < run.end && !is_ended_; j++)
                    give(set.row(i), set.row(j), 0);
        }
    }

    void find_near(int radius) {
        auto receive = [&](uint64_t a, uint64_t b) {
            if (are_noted_as_linked(a, b))
                return true;
            if (pairs_.is_full())
                look_up_first();
            pairs_.add({a, b});
            return !is_ended_;
        };
        // Lanes whose pairs are all near: to link each with the first one is enough.
        auto receive_all = [&](const uint64_t* lanes, size_t count) {
            for (size_t i = 1; i < count && receive(lanes[0], lanes[i]); i++)
                continue;
        };
        PairReceiver receiver = {receive};
        if (links_ != nullptr && are_values_)
            receiver.all_pairs = receive_all;
        find_pairs(&*sets_[0].lanes, between_ ? &*sets_[1].lanes : nullptr, radius, receiver);
    }

    void look_up_first() {
        Run run;
        pairs_.sort();
        for (const Pair& pair : pairs_.entries()) {
            CHECK_FOR_INTERRUPTS();
            advance(sets_[0], pair.first, &run);
            auto distance = uint64_t(hamming_distance(pair.first, pair.second));
            for (size_t i = run.begin; i < run.end && !is_ended_; i++) {
                if (half_done_.is_full())
                    look_up_second();
                half_done_.add({pair.second, distance << 32 | sets_[0].row(i)});
            }
        }
        pairs_.clear();
        look_up_second();
    }

    void look_up_second() {
        Run run;
        half_done_.sort();
        for (const Pair& pair : half_done_.entries()) {
            CHECK_FOR_INTERRUPTS();
            advance(second(), pair.first, &run);
            for (size_t i = run.begin; i < run.end && !is_ended_; i++)
                give(RowNumber(pair.second), second().row(i), int(pair.second >> 32));
        }
        half_done_.clear();
    }

    void give(RowNumber a, RowNumber b, int distance) {
        CHECK_FOR_INTERRUPTS();
        if (!between_ && a > b)
            std::swap(a, b);
        is_ended_ = !receiver_(a, b, distance);
    }

    // ---- lanes whose models are linked already, whose pairs are left out: else their number grows
    // with the square of a group's size. A cache, whose slots are overwritten ----

    void make_notes() {
        constexpr int kMostBits = 16; // 1 MB, which a processor's cache holds
        // About ten slots for each lane, so that few are overwritten.
        note_bits_ = std::min(int(std::bit_width(sets_[0].models->size())) + 3, kMostBits);
        size_t slots = size_t{1} << note_bits_;
        notes_ = allocate_array<LinkedLane>(server_memory(), slots);
        std::fill_n(notes_, slots, LinkedLane{0, kNoRow});
    }

    LinkedLane* note_of(uint64_t lane) {
        constexpr uint64_t kSpread = 0x9E3779B97F4A7C15; // near lanes have different hashes
        return notes_ + (lane * kSpread >> (kFingerprintBits - note_bits_));
    }

    // Notes the group of the models of a lane, if it is one.
    void note(const Set& set, Run run) {
        RowNumber group = links_->original_of(set.row(run.begin));
        for (size_t i = run.begin + 1; i < run.end; i++)
            if (links_->original_of(set.row(i)) != group)
                return;
        uint64_t lane = set.lane(run.begin);
        *note_of(lane) = {lane, group};
    }

    // Where groups have merged since both were noted this may say no, which costs a look-up.
    bool are_noted_as_linked(uint64_t a, uint64_t b) {
        if (notes_ == nullptr)
            return false;
        const LinkedLane *of_a = note_of(a), *of_b = note_of(b);
        return of_a->lane == a && of_b->lane == b && of_a->group == of_b->group &&
               of_a->group != kNoRow;
    }

    void release() {
        for (Set& set : sets_)
            if (set.lanes)
                set.lanes->release();
        pairs_.release();
        half_done_.release();
        if (notes_ != nullptr)
            pfree(notes_);
    }

    bool between_, are_values_;
    size_t memory_;
    NearLanesReceiver receiver_;
    Links* links_;
    Set sets_[2];
    SortBuffer<Pair> pairs_;     // (lane of a, lane of b)
    SortBuffer<Pair> half_done_; // (lane of b, distance and row of a)
    bool is_ended_ = false;
    LinkedLane* notes_ = nullptr; // [2 to the power of note_bits_]
    int note_bits_;
};

} // namespace

bool find_near_lanes(Models::List* a, Models::List* b, int radius, size_t memory,
                     const NearLanesReceiver& receiver, Links* links, bool are_values) {
    if (radius < 0 || a->size() == 0 || (b != nullptr && b->size() == 0))
        return true;
    return NearLanes(a, b, memory, receiver, links, are_values).run(radius);
}

} // namespace simhash
