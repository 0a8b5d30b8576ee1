// The distinct keys are searched for near pairs (core/pairs). A pair of keys stands for all pairs
// of models that have them. To look up the models of each pair as it comes would take two random
// accesses. So pairs of keys are collected, and brought to their models by two sorts, as two merge
// joins do:
//
//     (key of a, key of b)   sorted by a, with the models of a   ->   (key of b, row of a)
//     (key of b, row of a)   sorted by b, with the models of b   ->   (row of a, row of b)
#include "tables/near_fingerprints.hpp"

#include <algorithm>
#include <optional>

#include "core/bits/distance.hpp"
#include "server/sorter.hpp"
#include "tables/collector.hpp"
#include "tables/lane_directory.hpp"

namespace simhash {
namespace {

// What was noted of a key: all of its models were in the group that this row was in.
struct LinkedKey {
    uint64_t key;
    RowNumber group;
};

class NearFingerprints {
  public:
    // The parts of the memory: half for the search of the keys, a quarter for each sort of pairs.
    NearFingerprints(ModelsByKey* a, ModelsByKey* b, int radius, size_t memory,
                     const CandidateReceiver& receiver, const LinkTeller& links)
        : between_(b != nullptr), radius_(radius), memory_(memory), receiver_(receiver),
          links_(links), sets_{{a, {}, {}}, {b, {}, {}}}, pairs_(memory / 4),
          half_done_(memory / 4) {}

    void run() {
        begin(&sets_[0]);
        if (between_)
            begin(&sets_[1]);
        else
            give_equal();
        if (links_.group_of != nullptr)
            make_notes();
        if (!is_ended_)
            find_pairs(&*sets_[0].keys, between_ ? &*sets_[1].keys : nullptr, radius_,
                       {receive_keys, nullptr, this});
        if (!is_ended_)
            look_up_first();
        release();
    }

  private:
    struct Set {
        ModelsByKey* models;
        std::optional<Collector> keys; // each once
        LaneDirectory directory;       // of the models' keys
    };

    // Models of one key: from `begin` on.
    struct Run {
        size_t begin, end;
    };

    Set& second() { return sets_[between_ ? 1 : 0]; }

    uint64_t key(const Set& set, size_t i) const { return *set.models->key(i); }

    void begin(Set* set) {
        constexpr size_t kShare = 16; // of the memory
        size_t bytes = memory_ / 2 - memory_ / kShare;
        uint64_t last = 0;
        set->keys.emplace(Collector::within(CurrentMemoryContext, bytes,
                                            set == &sets_[1] ? &*sets_[0].keys : nullptr));
        for (size_t i = 0; i < set->models->size(); i++) {
            uint64_t key = this->key(*set, i);
            CHECK_FOR_INTERRUPTS();
            if (i == 0 || key != last)
                set->keys->add(key);
            last = key;
        }
        set->keys->finish();
        set->directory.make(set->models->size(), memory_ / kShare / (between_ ? 2 : 1),
                            [&](size_t i) { return key(*set, i); });
    }

    // The models of a key, which is there.
    Run run_of(const Set& set, uint64_t key) {
        auto key_at = [&](size_t i) { return this->key(set, i); };
        return run_from(set, set.directory.place_of(key, key_at));
    }

    Run run_from(const Set& set, size_t begin) {
        size_t end = begin + 1;
        while (end < set.models->size() && key(set, end) == key(set, begin))
            end++;
        return {begin, end};
    }

    // ---- pairs of models ----

    // Of one set, near keys are different ones. Models of equal keys come first.
    void give_equal() {
        Set& set = sets_[0];
        for (size_t i = 0; i < set.models->size() && !is_ended_;) {
            Run run = run_from(set, i);
            for (; i < run.end; i++)
                for (size_t j = i + 1; j < run.end && !is_ended_; j++)
                    give(set.models->row(i), set.models->row(j), 0);
        }
    }

    static bool receive_keys(void* search, uint64_t a, uint64_t b) {
        auto* self = static_cast<NearFingerprints*>(search);
        if (self->are_noted_as_linked(a, b))
            return true;
        if (self->pairs_.is_full())
            self->look_up_first();
        self->pairs_.add({a, b});
        return !self->is_ended_;
    }

    void look_up_first() {
        Run run = {0, 0};
        pairs_.sort();
        for (const Entry& pair : pairs_.entries()) {
            CHECK_FOR_INTERRUPTS();
            if (run.end == 0 || key(sets_[0], run.begin) != pair.key) {
                run = run_of(sets_[0], pair.key);
                note(sets_[0], run);
            }
            auto distance = uint64_t(hamming_distance(pair.key, pair.tid));
            for (size_t i = run.begin; i < run.end && !is_ended_; i++) {
                if (half_done_.is_full())
                    look_up_second();
                half_done_.add({pair.tid, distance << 32 | sets_[0].models->row(i)});
            }
        }
        pairs_.clear();
        look_up_second();
    }

    void look_up_second() {
        Run run = {0, 0};
        half_done_.sort();
        for (const Entry& pair : half_done_.entries()) {
            CHECK_FOR_INTERRUPTS();
            if (run.end == 0 || key(second(), run.begin) != pair.key) {
                run = run_of(second(), pair.key);
                note(second(), run);
            }
            for (size_t i = run.begin; i < run.end && !is_ended_; i++)
                give(RowNumber(pair.tid), second().models->row(i), int(pair.tid >> 32));
        }
        half_done_.clear();
    }

    void give(RowNumber a, RowNumber b, int distance) {
        CHECK_FOR_INTERRUPTS();
        if (!between_ && a > b)
            std::swap(a, b);
        is_ended_ = !receiver_.pair(receiver_.context, a, b, distance);
    }

    // ---- linked keys: a cache, whose slots are overwritten ----

    void make_notes() {
        size_t slots = size_t{1} << note_bits_;
        notes_ = allocate<LinkedKey>(CurrentMemoryContext, slots);
        std::fill_n(notes_, slots, LinkedKey{0, kNoRow});
    }

    LinkedKey* note_of(uint64_t key) {
        constexpr uint64_t kSpread = 0x9E3779B97F4A7C15; // near keys have different hashes
        return notes_ + (key * kSpread >> (kFingerprintBits - note_bits_));
    }

    // Notes the group of the models of a key, if it is one.
    void note(const Set& set, Run run) {
        if (notes_ == nullptr)
            return;
        RowNumber group = links_.group_of(links_.context, set.models->row(run.begin));
        for (size_t i = run.begin + 1; i < run.end; i++)
            if (links_.group_of(links_.context, set.models->row(i)) != group)
                return;
        uint64_t key = this->key(set, run.begin);
        *note_of(key) = {key, group};
    }

    // Where groups have merged since both were noted this may say no, which costs a look-up.
    bool are_noted_as_linked(uint64_t a, uint64_t b) {
        if (notes_ == nullptr)
            return false;
        const LinkedKey *of_a = note_of(a), *of_b = note_of(b);
        return of_a->key == a && of_b->key == b && of_a->group == of_b->group &&
               of_a->group != kNoRow;
    }

    void release() {
        for (Set& set : sets_) {
            if (set.keys)
                set.keys->release();
            set.directory.release();
        }
        pairs_.release();
        half_done_.release();
        if (notes_ != nullptr)
            pfree(notes_);
    }

    bool between_;
    int radius_;
    size_t memory_;
    CandidateReceiver receiver_;
    LinkTeller links_;
    Set sets_[2];
    SortBuffer<Entry> pairs_;     // (key of a, key of b)
    SortBuffer<Entry> half_done_; // (key of b, distance and row of a)
    bool is_ended_ = false;
    static constexpr int note_bits_ = 16; // 1 MB, which a processor's cache holds
    LinkedKey* notes_ = nullptr;
};

} // namespace

void find_near_fingerprints(ModelsByKey* a, ModelsByKey* b, int radius, size_t memory,
                            const CandidateReceiver& receiver, const LinkTeller& links) {
    if (a->size() > 0 && (b == nullptr || b->size() > 0))
        NearFingerprints(a, b, radius, memory, receiver, links).run();
}

} // namespace simhash
