// Candidates whose signatures are codes. See candidates.hpp.
#include "tables/candidates.hpp"

namespace simhash {

// Of the memory, a half sorts the lanes, and before that holds candidates; a quarter searches the
// distinct lanes; a sixteenth is for the directories.
NearCodes::NearCodes(SignatureList* a, SignatureList* b, PagePool* pool, size_t memory)
    : lanes_(a->lanes()), sets_{{a, PagedArray<Pair>(pool), {}, {}},
                                {b, PagedArray<Pair>(pool), {}, {}}},
      memory_to_sort_(memory / 4), memory_of_lanes_(memory / 4),
      memory_of_directory_(memory / 16 / size_t(set_count())),
      // A part takes an eighth of the pool, so the parts of both codes of a candidate fit together
      // with the next ones.
      part_codes_(pool->memory_bytes() / 8 / (size_t(lanes_ + 1) * sizeof(uint64_t)) + 1),
      candidates_(memory / 4) {}

void NearCodes::search(int radius, const CandidateReceiver& receiver) {
    receiver_ = receiver;
    NearCodesSearch(this, lanes_, radius, {receive_codes, this}, kPause).run();
    for (Set& set : sets_) {
        set.places.close();
        set.directory.release();
        if (set.lanes)
            set.lanes->release();
    }
    candidates_.release();
}

// From the numbers of codes to the rows of models.
bool NearCodes::receive_codes(void* codes, size_t a, size_t b, int distance) {
    auto* self = static_cast<NearCodes*>(codes);
    RowNumber of_a = self->sets_[0].codes->row(a);
    RowNumber of_b = self->sets_[self->between() ? 1 : 0].codes->row(b);
    CHECK_FOR_INTERRUPTS();
    if (!self->between() && of_a > of_b)
        std::swap(of_a, of_b);
    return self->receiver_.pair(self->receiver_.context, of_a, of_b, distance);
}

void NearCodes::begin_lane(int lane) {
    has_file_ = false;
    for (int set = 0; set < set_count(); set++) {
        order_by(lane, &sets_[set]);
        has_file_ |= sets_[set].codes->has_file();
    }
}

void NearCodes::order_by(int lane, Set* set) {
    ExternalSorter<Pair> sorter(memory_to_sort_);
    set->places.close();
    for (size_t i = 0; i < set->codes->size(); i++) {
        CHECK_FOR_INTERRUPTS();
        sorter.add({set->codes->signature(i)[lane], i});
    }
    sorter.finish();
    set->lanes.emplace(Collector::within(CurrentMemoryContext, memory_of_lanes_,
                                         set == &sets_[1] ? &*sets_[0].lanes : nullptr));
    uint64_t last = 0;
    for (Pair entry{}; sorter.next(&entry); last = entry.first) {
        CHECK_FOR_INTERRUPTS();
        // The search of lanes wants each lane once, however many codes have it.
        if (set->places.size() == 0 || entry.first != last)
            set->lanes->add(entry.first);
        set->places.add(entry);
    }
    sorter.release();
    set->lanes->finish();
    set->directory.release();
    set->directory.make(set->places.size(), memory_of_directory_,
                        [&](size_t i) { return set->places[i].first; });
}

void NearCodes::find_pairs(int radius, const PairReceiver& receiver) {
    simhash::find_pairs(&*sets_[0].lanes, between() ? &*sets_[1].lanes : nullptr, radius, receiver);
}

} // namespace simhash
