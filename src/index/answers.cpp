// The posting table's answers to vacuum; see the header.
#include "index/answers.hpp"

#include "index/fetch_ahead.hpp"

#include <algorithm>
#include <utility>

namespace simhash {

void Answers::begin(size_t count) {
    // Each answer is about one fingerprint at least, and about a leaf of its own.
    size_t needed = std::min({count, most_, size_t{RelationGetNumberOfBlocks(index_)}});
    forget();
    if (needed <= limit_)
        return;
    free();
    limit_ = needed;
    for (Answer** answers : {&answers_, &earlier_})
        *answers = static_cast<Answer*>(
            MemoryContextAllocHuge(CurrentMemoryContext, limit_ * sizeof(Answer)));
    before_slot_ = static_cast<uint32*>(palloc0((kSlots + 1) * sizeof(uint32)));
}

void Answers::free() {
    for (void* memory : {static_cast<void*>(answers_), static_cast<void*>(earlier_),
                         static_cast<void*>(before_slot_)})
        if (memory != nullptr)
            pfree(memory);
    answers_ = earlier_ = nullptr;
    before_slot_ = nullptr;
    limit_ = 0;
}

// Where there is no room, a descent will have to do.
void Answers::put(const Answer& answer) {
    if (count_ < limit_)
        answers_[count_++] = answer;
}

// Whether the leaf is as it was when it was asked.
bool Answers::holds(const Answer& answer) {
    Buffer buffer = pin_recent_page(index_, answer.block, answer.buffer);
    if (buffer == InvalidBuffer) {
        buffer = pin_page(index_, answer.block);
        searches_ += buffer != answer.buffer;
    }
    LockBuffer(buffer, BUFFER_LOCK_SHARE);
    bool same = PageGetLSN(BufferGetPage(buffer)) == answer.lsn;
    UnlockReleaseBuffer(buffer);
    return same;
}

// Asks the leaf of the first of these fingerprints for all whose postings can be on no other leaf,
// or as many as a leaf has entries. Moves those without a posting to `kept`, which may be the same
// array, and puts down the answer. Returns how many it asked for: 0 where the postings of the first
// one may go on to the right.
size_t Answers::ask_leaf(const uint64_t* fingerprints, size_t count, uint64_t* kept,
                         size_t* kept_count) {
    TreeContext postings = tree_context(index_, nullptr, layout_, 0);
    uint64_t first = fingerprints[0], last = first;
    Buffer buffer = descend(postings, {first, 0}, 0, BUFFER_LOCK_SHARE);
    Page page = BufferGetPage(buffer);
    LeafReader reader = open_leaf(index_, buffer, postings.kind);
    count = std::min(count, size_t{kMaxLeafEntries});
    size_t asked = 0;
    for (; asked < count && !page_precedes(page, {fingerprints[asked], kMaxTid}); asked++) {
        last = fingerprints[asked];
        if (!reader.contains_key(last))
            kept[(*kept_count)++] = last;
    }
    Answer answer{first, last, PageGetLSN(page), BufferGetBlockNumber(buffer), buffer};
    UnlockReleaseBuffer(buffer);
    if (asked > 0 && RelationNeedsWAL(index_))
        put(answer);
    return asked;
}

size_t Answers::keep_absent(uint64_t* fingerprints, size_t count) {
    std::swap(answers_, earlier_);
    size_t earlier_count = std::exchange(count_, 0), earlier = 0, kept = 0;
    for (size_t i = 0; i < count;) {
        vacuum_delay();
        while (earlier < earlier_count && earlier_[earlier].last < fingerprints[i])
            earlier++;
        const Answer* known = earlier < earlier_count ? &earlier_[earlier] : nullptr;
        if (known != nullptr && known->first <= fingerprints[i] && holds(*known)) {
            put(*known);
            while (i < count && fingerprints[i] <= known->last)
                fingerprints[kept++] = fingerprints[i++];
        } else if (size_t asked = ask_leaf(fingerprints + i, count - i, fingerprints, &kept)) {
            i += asked;
        } else {
            uint64_t spread = fingerprints[i++];
            if (!has_posting(index_, layout_, spread))
                fingerprints[kept++] = spread;
        }
    }
    count_slots();
    return kept;
}

void Answers::count_slots() {
    for (size_t slot = 0, before = 0; slot <= kSlots; slot++) {
        while (before < count_ && slot_of(answers_[before].first) < int(slot))
            before++;
        before_slot_[slot] = uint32(before);
    }
}

const Answer* Answers::look_up(uint64_t fingerprint) const {
    if (count_ == 0)
        return nullptr;
    const uint32* before = &before_slot_[slot_of(fingerprint)];
    const Answer* after = std::upper_bound(
        answers_ + before[0], answers_ + before[1], fingerprint,
        [](uint64_t wanted, const Answer& answer) { return wanted < answer.first; });
    if (after == answers_ || after[-1].last < fingerprint)
        return nullptr;
    prefetch_page(after[-1].buffer);
    return after - 1;
}

bool Answers::still_absent(uint64_t fingerprint, const Answer* answer) {
    if (answer != nullptr && holds(*answer))
        return true;
    searches_++;
    return !has_posting(index_, layout_, fingerprint);
}

} // namespace simhash
