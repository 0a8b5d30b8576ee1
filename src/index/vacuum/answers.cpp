// The posting table's answers to VACUUM. See the header.
#include "index/vacuum/answers.hpp"

#include "index/store/page.hpp"

#include <algorithm>
#include <utility>

namespace simhash {

void Answers::begin(size_t count) {
    // Each answer is about one fingerprint or more, and about a leaf of its own, so there are no
    // more answers than fingerprints or blocks.
    limit_ = std::min({count, most_, size_t{RelationGetNumberOfBlocks(postings_.index)}});
    for (GrowingArray<Answer>* answers : {&answers_, &earlier_}) {
        answers->clear();
        answers->add_room(limit_);
    }
}

// Keeps an answer if there is room. An answer that is dropped costs a descent later, nothing else.
void Answers::put(const Answer& answer) {
    if (answers_.size() < limit_)
        answers_.add(answer);
}

// True when the leaf is as it was when it was asked. Every logged change gives a page a new LSN,
// and no LSN comes back while VACUUM runs, so one comparison proves that no byte has changed. The
// page is a leaf of the posting table still: only VACUUM unlinks leaves, and it unlinks none there
// while it has answers.
bool Answers::holds(const Answer& answer) {
    Buffer buffer = pin_recent_page(postings_.index, answer.block, answer.buffer);
    if (buffer == InvalidBuffer) {
        buffer = pin_page(postings_.index, answer.block);
        searches_ += buffer != answer.buffer;
    }
    // A writer changes page and LSN under the exclusive lock, so under ours both agree.
    LockBuffer(buffer, BUFFER_LOCK_SHARE);
    bool same = PageGetLSN(BufferGetPage(buffer)) == answer.lsn;
    UnlockReleaseBuffer(buffer);
    return same;
}

// Asks the leaf of the first of these fingerprints about all whose postings can be on no other
// leaf, kMaxLeafEntries at most. Moves the fingerprints without a posting to `kept`, which may be
// the same array, and keeps the answer. Returns how many fingerprints it asked about: 0 if the
// postings of the first one may go on to the right.
size_t Answers::ask_leaf(const uint64_t* fingerprints, size_t count, uint64_t* kept,
                         size_t* kept_count) {
    uint64_t first = fingerprints[0], last = first;
    Buffer buffer = descend(postings_, {first, 0}, 0, BUFFER_LOCK_SHARE);
    Page page = BufferGetPage(buffer);
    LeafReader reader = open_leaf(postings_.index, buffer, postings_.kind);
    count = std::min(count, size_t{kMaxLeafEntries});
    size_t asked = 0;
    // We read the fences, the LSN and the absence of postings under one lock, so the LSN stands for
    // all of them. No lock on the block table is needed: remove_from_table() compares the LSN under
    // that lock.
    for (; asked < count && !page_precedes(page, {fingerprints[asked], kMaxTid}); asked++) {
        last = fingerprints[asked];
        if (!reader.contains_key(last))
            kept[(*kept_count)++] = last;
    }
    Answer answer{first, last, PageGetLSN(page), BufferGetBlockNumber(buffer), buffer};
    UnlockReleaseBuffer(buffer);
    // Pages of an index that is not logged change without a new LSN, so there it proves nothing.
    if (asked > 0 && RelationNeedsWAL(postings_.index))
        put(answer);
    return asked;
}

size_t Answers::keep_absent(uint64_t* fingerprints, size_t count) {
    std::swap(answers_, earlier_);
    answers_.clear();
    size_t earlier = 0, kept = 0;
    for (size_t i = 0; i < count;) {
        vacuum_delay();
        while (earlier < earlier_.size() && earlier_[earlier].last < fingerprints[i])
            earlier++;
        const Answer* known = earlier < earlier_.size() ? &earlier_[earlier] : nullptr;
        // The leaf has not changed since the last block table, so its answer holds for this one.
        if (known != nullptr && known->first <= fingerprints[i] && holds(*known)) {
            put(*known);
            while (i < count && fingerprints[i] <= known->last)
                fingerprints[kept++] = fingerprints[i++];
        } else if (size_t asked = ask_leaf(fingerprints + i, count - i, fingerprints, &kept)) {
            i += asked;
        } else {
            // Its postings may be on more than one leaf, so no single LSN can stand for them.
            uint64_t spread = fingerprints[i++];
            if (!has_posting(postings_, spread))
                fingerprints[kept++] = spread;
        }
    }
    return kept;
}

bool Answers::still_absent(uint64_t fingerprint) {
    const Answer* after = std::upper_bound(
        answers_.data(), answers_.end(), fingerprint,
        [](uint64_t wanted, const Answer& answer) { return wanted < answer.first; });
    if (after != answers_.data() && after[-1].last >= fingerprint && holds(after[-1]))
        return true;
    // The leaf has changed, or there is no answer. A change need not concern this fingerprint, so
    // we ask again.
    searches_++;
    return !has_posting(postings_, fingerprint);
}

} // namespace simhash
