// The distinct signatures are searched for near pairs (core/pairs). A pair of signatures stands for
// all pairs of models that have them. To look up the models of each pair as it comes would take two
// random accesses. So pairs of signatures are collected, and brought to their models by two sorts,
// as two merge joins do:
//
//     (signature of a, of b)      sorted by a, with the models of a  ->  (signature of b, row of a)
//     (signature of b, row of a)  sorted by b, with the models of b  ->  (row of a, row of b)
#include "tables/candidates.hpp"

#include <algorithm>

namespace simhash {
namespace {

// What was noted of a signature: all of its models were in the group that this row was in.
struct LinkedSignature {
    uint64_t signature;
    RowNumber group;
};

class NearFingerprints {
  public:
    // Two thirds of the memory are for the search of signatures, a sixth for each sort of pairs.
    NearFingerprints(SignatureList* a, SignatureList* b, int radius, size_t memory,
                     const CandidateReceiver& receiver, const LinkTeller& links)
        : between_(b != nullptr), radius_(radius), memory_(memory), receiver_(receiver),
          links_(links), sets_{{a, {}, {}}, {b, {}, {}}}, pairs_(memory / 6),
          half_done_(memory / 6) {}

    void run() {
        begin(&sets_[0]);
        if (between_)
            begin(&sets_[1]);
        else
            give_equal();
        if (links_.group_of != nullptr)
            make_notes();
        if (!is_ended_)
            find_pairs(&*sets_[0].signatures, between_ ? &*sets_[1].signatures : nullptr, radius_,
                       {receive_signatures, nullptr, this});
        if (!is_ended_)
            look_up_first();
        release();
    }

  private:
    static constexpr size_t kShareOfDirectory = 64; // of the memory, beside the other parts
    static constexpr int kNoteBits = 16;            // 1 MB, which a processor's cache holds

    struct Set {
        SignatureList* models;
        std::optional<Collector> signatures; // each once
        LaneDirectory directory;             // of the models' signatures
    };

    // Models of one signature: from `begin` on.
    struct Run {
        size_t begin, end;
    };

    Set& second() { return sets_[between_ ? 1 : 0]; }

    uint64_t signature(const Set& set, size_t i) const { return *set.models->signature(i); }

    void begin(Set* set) {
        uint64_t last = 0;
        set->signatures.emplace(
            Collector::within(CurrentMemoryContext, memory_ / 3 * 2,
                              set == &sets_[1] ? &*sets_[0].signatures : nullptr));
        for (size_t i = 0; i < set->models->size(); i++) {
            uint64_t signature = this->signature(*set, i);
            CHECK_FOR_INTERRUPTS();
            if (i == 0 || signature != last)
                set->signatures->add(signature);
            last = signature;
        }
        set->signatures->finish();
        set->directory.make(set->models->size(), memory_ / kShareOfDirectory,
                            [&](size_t i) { return signature(*set, i); });
    }

    // The models of a signature, which is there.
    Run run_of(const Set& set, uint64_t signature) {
        auto signature_at = [&](size_t i) { return this->signature(set, i); };
        return run_from(set, set.directory.place_of(signature, signature_at));
    }

    Run run_from(const Set& set, size_t begin) {
        size_t end = begin + 1;
        while (end < set.models->size() && signature(set, end) == signature(set, begin))
            end++;
        return {begin, end};
    }

    // ---- pairs of models ----

    // Of one set, near signatures are different ones. Models of equal signatures come first.
    void give_equal() {
        Set& set = sets_[0];
        for (size_t i = 0; i < set.models->size() && !is_ended_;) {
            Run run = run_from(set, i);
            for (; i < run.end; i++)
                for (size_t j = i + 1; j < run.end && !is_ended_; j++)
                    give(set.models->row(i), set.models->row(j), 0);
        }
    }

    static bool receive_signatures(void* search, uint64_t a, uint64_t b) {
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
        for (const Pair& pair : pairs_.entries()) {
            CHECK_FOR_INTERRUPTS();
            if (run.end == 0 || signature(sets_[0], run.begin) != pair.first) {
                run = run_of(sets_[0], pair.first);
                note(sets_[0], run);
            }
            auto distance = uint64_t(hamming_distance(pair.first, pair.second));
            for (size_t i = run.begin; i < run.end && !is_ended_; i++) {
                if (half_done_.is_full())
                    look_up_second();
                half_done_.add({pair.second, distance << 32 | sets_[0].models->row(i)});
            }
        }
        pairs_.clear();
        look_up_second();
    }

    void look_up_second() {
        Run run = {0, 0};
        half_done_.sort();
        for (const Pair& pair : half_done_.entries()) {
            CHECK_FOR_INTERRUPTS();
            if (run.end == 0 || signature(second(), run.begin) != pair.first) {
                run = run_of(second(), pair.first);
                note(second(), run);
            }
            for (size_t i = run.begin; i < run.end && !is_ended_; i++)
                give(RowNumber(pair.second), second().models->row(i), int(pair.second >> 32));
        }
        half_done_.clear();
    }

    void give(RowNumber a, RowNumber b, int distance) {
        CHECK_FOR_INTERRUPTS();
        if (!between_ && a > b)
            std::swap(a, b);
        is_ended_ = !receiver_.pair(receiver_.context, a, b, distance);
    }

    // ---- linked signatures: a cache, whose slots are overwritten ----

    void make_notes() {
        size_t slots = size_t{1} << kNoteBits;
        notes_ = allocate<LinkedSignature>(CurrentMemoryContext, slots);
        std::fill_n(notes_, slots, LinkedSignature{0, kNoRow});
    }

    LinkedSignature* note_of(uint64_t signature) {
        constexpr uint64_t kSpread = 0x9E3779B97F4A7C15; // near signatures have different hashes
        return notes_ + (signature * kSpread >> (kFingerprintBits - kNoteBits));
    }

    // Notes the group of the models of a signature, if it is one.
    void note(const Set& set, Run run) {
        if (notes_ == nullptr)
            return;
        RowNumber group = links_.group_of(links_.context, set.models->row(run.begin));
        for (size_t i = run.begin + 1; i < run.end; i++)
            if (links_.group_of(links_.context, set.models->row(i)) != group)
                return;
        uint64_t signature = this->signature(set, run.begin);
        *note_of(signature) = {signature, group};
    }

    // Where groups have merged since both were noted this may say no, which costs a look-up.
    bool are_noted_as_linked(uint64_t a, uint64_t b) {
        if (notes_ == nullptr)
            return false;
        const LinkedSignature *of_a = note_of(a), *of_b = note_of(b);
        return of_a->signature == a && of_b->signature == b && of_a->group == of_b->group &&
               of_a->group != kNoRow;
    }

    void release() {
        for (Set& set : sets_) {
            if (set.signatures)
                set.signatures->release();
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
    SortBuffer<Pair> pairs_;     // (signature of a, signature of b)
    SortBuffer<Pair> half_done_; // (signature of b, distance and row of a)
    bool is_ended_ = false;
    LinkedSignature* notes_ = nullptr;
};

} // namespace

void find_near_fingerprints(SignatureList* a, SignatureList* b, int radius, size_t memory,
                            const CandidateReceiver& receiver, const LinkTeller& links) {
    if (a->size() > 0 && (b == nullptr || b->size() > 0))
        NearFingerprints(a, b, radius, memory, receiver, links).run();
}

} // namespace simhash
