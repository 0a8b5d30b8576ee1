// The posting table's answers to vacuum; see the header.
#include "index/answers.hpp"

#include "index/fetch_ahead.hpp"

#include <algorithm>
#include <utility>

namespace simhash {

Answers::Answers(Relation index, const Layout* layout, size_t limit)
    : index_(index), layout_(layout), count_(0),
      limit_(std::min(limit / kSharingLeaf, size_t{UINT32_MAX})), searches_(0) {
    auto allocate = [&] {
        return static_cast<Answer*>(
            MemoryContextAllocHuge(CurrentMemoryContext, limit_ * sizeof(Answer)));
    };
    answers_ = allocate();
    earlier_ = allocate();
    before_slot_ = static_cast<uint32*>(palloc0((kSlots + 1) * sizeof(uint32)));
}

void Answers::free() {
    pfree(answers_);
    pfree(earlier_);
    pfree(before_slot_);
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
        searches_++;
    }
    LockBuffer(buffer, BUFFER_LOCK_SHARE);
    bool same = PageGetLSN(BufferGetPage(buffer)) == answer.lsn;
    UnlockReleaseBuffer(buffer);
    return same;
}

// Asks the leaf of the first of these fingerprints for all whose postings can be on no other leaf.
// Moves those without a posting to `kept`, and puts down the answer. Returns how many it dealt with:
// 0 where the postings of the first one may go on to the right.
size_t Answers::ask_leaf(const uint64_t* fingerprints, size_t count, uint64_t* kept,
                         size_t* kept_count) {
    TreeContext postings = tree_context(index_, nullptr, layout_, 0);
    Buffer buffer = descend(postings, {fingerprints[0], 0}, 0, BUFFER_LOCK_SHARE);
    Page page = BufferGetPage(buffer);
    LeafReader reader = open_leaf(index_, buffer, postings.kind);
    size_t asked = 0;
    for (; asked < count && !page_precedes(page, {fingerprints[asked], kMaxTid}); asked++) {
        if (!reader.contains_key(fingerprints[asked]))
            kept[(*kept_count)++] = fingerprints[asked];
    }
    Answer answer{fingerprints[0], fingerprints[asked > 0 ? asked - 1 : 0], PageGetLSN(page),
                  BufferGetBlockNumber(buffer), buffer};
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
        if (earlier < earlier_count && earlier_[earlier].first <= fingerprints[i] &&
            holds(earlier_[earlier])) {
            put(earlier_[earlier]);
            while (i < count && fingerprints[i] <= earlier_[earlier].last)
                fingerprints[kept++] = fingerprints[i++];
            continue;
        }
        size_t asked = ask_leaf(fingerprints + i, count - i, fingerprints, &kept);
        if (asked == 0 && !has_posting(index_, layout_, fingerprints[i++]))
            fingerprints[kept++] = fingerprints[i - 1];
        i += asked;
    }
    for (size_t slot = 0, before = 0; slot <= kSlots; slot++) {
        while (before < count_ && slot_of(answers_[before].first) < int(slot))
            before++;
        before_slot_[slot] = uint32(before);
    }
    return kept;
}

// The answer for a fingerprint, or nullptr.
const Answer* Answers::find(uint64_t fingerprint) const {
    if (count_ == 0)
        return nullptr;
    const uint32* before = &before_slot_[slot_of(fingerprint)];
    const Answer* after = std::upper_bound(
        answers_ + before[0], answers_ + before[1], fingerprint,
        [](uint64_t wanted, const Answer& answer) { return wanted < answer.first; });
    return after > answers_ && fingerprint <= after[-1].last ? after - 1 : nullptr;
}

void Answers::fetch_ahead(uint64_t fingerprint) const {
    if (const Answer* answer = find(fingerprint))
        prefetch_page(answer->buffer);
}

bool Answers::still_absent(uint64_t fingerprint) {
    const Answer* answer = find(fingerprint);
    if (answer != nullptr && holds(*answer))
        return true;
    searches_++;
    return !has_posting(index_, layout_, fingerprint);
}

} // namespace simhash
