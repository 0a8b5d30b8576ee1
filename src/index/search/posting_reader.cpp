// Reads postings leaf by leaf. See the header.
#include "index/search/posting_reader.hpp"

#include "index/testing.hpp"

namespace simhash {
namespace {

// Copies the postings that the filter takes from a leaf to `yield`, and returns their number.
// Expects the leaf locked.
int read_postings(const LeafCursor& cursor, const LeafReader& reader, const Filter& filter,
                  LeafYield* yield) {
    KeyRange range = cursor.rest();
    // The ball is tested here, many keys at once, and takes() tests what is left of the filter.
    int hit_count = reader.keys_within(range.first, range.last, filter.ball.center,
                                       filter.ball.radius, yield->hits, cursor.slices());
    int count = 0;
    for (int i = 0; i < hit_count; i++) {
        uint64_t key = yield->hits[i].key, tid = reader.tid_at(yield->hits[i].place);
        // An entry before the position is done. The leaf may have taken over the range of an
        // unlinked leaf, so its `low` may lie before the position.
        if (Entry{key, tid} < cursor.position() || !filter.takes(key))
            continue;
        // The server would look for the row at a place that no table has.
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

void PostingReader::load(std::span<const uint64_t> tids) {
    stop();
    resize(tids.size());
    std::transform(tids.begin(), tids.end(), postings_, [](uint64_t tid) { return Entry{0, tid}; });
}

bool PostingReader::next_leaf() {
    // The executor is done with the last leaf's TIDs, so the pin may go (rule 4). A pin that stayed
    // longer would only hold up VACUUM.
    release();
    while (!cursor_.at_end()) {
        CHECK_FOR_INTERRUPTS();
        if (begun_)
            pause_for_test("scan-between-leaves");
        begun_ = true;
        LeafReader reader = cursor_.lock(index_->snapshot);
        int count = read_postings(cursor_, reader, filter_, index_->yield());
        BlockNumber leaf = BufferGetBlockNumber(cursor_.buffer());
        // The position moves while the leaf is locked: fence, link and entries are of one moment.
        cursor_.go_on();
        // With the pin VACUUM gets no cleanup lock on this leaf, so it cannot end, and the TIDs
        // that we return are not recycled (rule 4).
        if (count > 0 && keeps_pin)
            pinned_ = cursor_.unlock();
        else
            cursor_.release();
        // The next leaf begins with postings of a fingerprint that we do not want. If that
        // fingerprint has many rows, its postings fill many leaves: we go past all of them.
        if (cursor_.is_among_postings() && !filter_.matches(cursor_.position().key))
            cursor_.pass_key();
        if (count > 0) {
            // No leaf is locked by now, so this may allocate.
            resize(size_t(count));
            std::copy_n(index_->yield()->postings, count, postings_);
            index_->check_places(postings(), leaf);
            return true;
        }
    }
    return false;
}

} // namespace simhash
