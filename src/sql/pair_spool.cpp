// See pair_spool.hpp.
#include "sql/pair_spool.hpp"

#include <span>

#include "core/whole/distinct.hpp"

namespace simhash {

void PairSpool::make_room() {
    if (sort_ == nullptr && capacity_ < most_) {
        capacity_ = std::min(capacity_ * 2, most_);
        codes_ = resize(codes_, capacity_);
    } else {
        move_to_sort();
    }
}

// No pair is there twice, so that none is dropped.
void PairSpool::sort_codes() {
    uint64_t* scratch = allocate<uint64_t>(context_, count_);
    sort_distinct({codes_, count_}, {scratch, count_}, kPause);
    pfree(scratch);
}

void PairSpool::move_to_sort() {
    if (sort_ == nullptr) {
        MemoryContext caller = MemoryContextSwitchTo(context_);
        sort_ = tuplesort_begin_datum(INT8OID, Int8LessOperator, InvalidOid, false, work_mem,
                                      nullptr, TUPLESORT_NONE);
        MemoryContextSwitchTo(caller);
    }
    for (size_t i = 0; i < count_; ++i) {
        CHECK_FOR_INTERRUPTS();
        tuplesort_putdatum(sort_, Int64GetDatum(int64(codes_[i])), false);
    }
    count_ = 0;
}

} // namespace simhash
