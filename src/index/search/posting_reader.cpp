// Postings, leaf by leaf; see the header.
#include "index/search/posting_reader.hpp"

#include "index/testing.hpp"

#include <algorithm>

namespace simhash {

namespace {

constexpr int kMinCapacity = 64;

// Copies the postings of a leaf, which is locked, that the filter takes to `yield`; returns their
// number.
int read_postings(const LeafCursor& cursor, const LeafReader& reader, const Filter& filter,
                  LeafYield* yield) {
    KeyRange range = cursor.rest();
    int hit_count = reader.keys_within(range.first, range.last, filter.ball.center,
                                       filter.ball.radius, yield->hits, cursor.slices());
    int count = 0;
    for (int i = 0; i < hit_count; i++) {
        uint64_t key = yield->hits[i].key, tid = reader.tid_at(yield->hits[i].place);
        // Before the position: the leaf has taken over the range of one that was unlinked, which is
        // done.
        if (Entry{key, tid} < cursor.position() || !filter.takes(key))
            continue;
        if (!tid_is_possible(tid))
            report_corruption(cursor.tree().index, BufferGetBlockNumber(cursor.buffer()),
                              "A posting has no valid TID.");
        yield->postings[count++] = {key, tid};
    }
    return count;
}

} // namespace

void PostingReader::release() {
    if (pinned_ != InvalidBuffer)
        ReleaseBuffer(pinned_);
    pinned_ = InvalidBuffer;
    count_ = next_ = 0;
}

void PostingReader::start(const LeafCursor& cursor, const Filter& filter) {
    release();
    cursor_ = cursor;
    filter_ = filter;
    begun_ = false;
}

void PostingReader::stop() {
    release();
    cursor_.end();
}

// Takes over what was read of a leaf that is no longer locked.
void PostingReader::keep(const Entry* found, int count) {
    if (count > capacity_) {
        if (postings_ != nullptr)
            pfree(postings_);
        postings_ = nullptr;
        capacity_ = std::max(count, kMinCapacity);
        postings_ =
            static_cast<Entry*>(MemoryContextAlloc(index_->memory(), capacity_ * sizeof(Entry)));
    }
    std::copy_n(found, count, postings_);
    count_ = count;
}

bool PostingReader::next_leaf() {
    release();
    while (!cursor_.at_end()) {
        CHECK_FOR_INTERRUPTS();
        if (begun_)
            pause_for_test("scan-between-leaves");
        begun_ = true;
        LeafReader reader = cursor_.lock(index_->snapshot);
        int count = read_postings(cursor_, reader, filter_, index_->yield());
        // While the leaf is locked: position and link must be of the same moment as the entries.
        cursor_.go_on();
        // The pin keeps VACUUM from letting the TIDs be used again (README.md, rule 4).
        if (count > 0 && keeps_pin)
            pinned_ = cursor_.unlock();
        else
            cursor_.release();
        // A leaf that ends among the postings of a fingerprint that is not wanted is, if that one
        // has many rows, followed by more such leaves.
        if (cursor_.is_among_postings() && !filter_.matches(cursor_.position().key))
            cursor_.pass_key();
        if (count > 0) {
            keep(index_->yield()->postings, count);
            return true;
        }
    }
    return false;
}

} // namespace simhash
