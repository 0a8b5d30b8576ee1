// Reads postings leaf by leaf. See the header.
#include "index/search/posting_reader.hpp"

#include "index/testing.hpp"

namespace simhash {

void PostingReader::release() {
    if (pinned_ != InvalidBuffer)
        ReleaseBuffer(pinned_);
    pinned_ = InvalidBuffer;
    postings_.clear();
    next_ = 0;
}

void PostingReader::start(const LeafCursor& cursor, const Filter& filter) {
    release();
    cursor_ = cursor;
    filter_ = filter;
    begun_ = false;
}

void PostingReader::start_pass(const Filter& filter) {
    start({index_->posting_table(), kAllKeys}, filter);
}

void PostingReader::stop() {
    release();
    cursor_.end();
}

void PostingReader::load(std::span<const uint64_t> tids) {
    stop();
    for (uint64_t tid : tids)
        postings_.add({0, tid});
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
        Entry* found = index_->yield()->postings;
        size_t count = 0;
        // The ball is tested here, many keys at once, and takes() tests what is left of the filter.
        index_->read_leaf(&cursor_, filter_.ball, [&](const auto& reader, const auto& hit) {
            Entry posting{hit.key, reader.tid_at(hit.place)};
            // An entry before the position is done. The leaf may have taken over the range of an
            // unlinked leaf, so its `low` may lie before the position.
            if (posting < cursor_.position() || !filter_.takes(posting.key))
                return;
            // The server would look for the row at a place that no table has.
            if (!tid_is_possible(posting.tid))
                report_corruption(cursor_.tree().index, BufferGetBlockNumber(cursor_.buffer()),
                                  "A posting has no valid TID.");
            found[count++] = posting;
        });
        BlockNumber leaf = BufferGetBlockNumber(cursor_.buffer());
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
            postings_.append({found, count});
            index_->check_places(postings(), leaf);
            return true;
        }
    }
    return false;
}

} // namespace simhash
