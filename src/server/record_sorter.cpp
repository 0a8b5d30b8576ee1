// See record_sorter.hpp.
#include "server/record_sorter.hpp"

#include "server/growing.hpp"

namespace simhash {
namespace {

constexpr size_t kFirstCapacity = 16; // records
// With less, the runs of a long input would be short and many.
constexpr size_t kLeastLimit = 1024;
constexpr size_t kBytesOfOrder = 2 * sizeof(Entry); // of a record: to sort takes as much again

} // namespace

RecordSorter::RecordSorter(MemoryContext context, size_t memory_bytes, int words)
    : context_(context), memory_(memory_bytes), words_(size_t(words)),
      limit_(std::max(memory_bytes / (words_ * sizeof(uint64_t) + kBytesOfOrder), kLeastLimit)),
      files_(context) {}

// Records are in the order of their words as unsigned numbers, the first word first. The server's
// bit strings have the same order.
int RecordSorter::compare(const uint64_t* a, const uint64_t* b) const {
    for (size_t i = 0; i < words_; i++)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

void RecordSorter::make_room() {
    if (capacity_ == limit_) {
        spill();
        return;
    }
    capacity_ = std::min(std::max(kFirstCapacity, 2 * capacity_), limit_);
    records_ = resized(context_, records_, capacity_ * words_);
}

// ---- in memory ----

// Brings entries of the records in order.
void RecordSorter::sort() {
    auto pause = [] { CHECK_FOR_INTERRUPTS(); };
    order_ = resized<Entry>(context_, nullptr, std::max<size_t>(count_, 1));
    auto* scratch = resized<Entry>(context_, nullptr, std::max<size_t>(count_, 1));
    // The entries are 16 bytes each, whatever the size of a record. So the sort moves less memory
    // than one of the records themselves.
    for (size_t i = 0; i < count_; i++)
        order_[i] = {records_[i * words_], i};
    sort_records(std::span<Entry>(order_, count_), std::span<Entry>(scratch, count_), pause);
    pfree(scratch);
    // The sort by the first word leaves records that share it in the order of their input. Each
    // such group is sorted by the other words. With one word these records are equal.
    for (size_t begin = 0, end; begin < count_; begin = end) {
        for (end = begin + 1; end < count_ && order_[end].key == order_[begin].key;)
            end++;
        CHECK_FOR_INTERRUPTS();
        if (end - begin > 1 && words_ > 1)
            std::sort(order_ + begin, order_ + end, [this](const Entry& a, const Entry& b) {
                return compare(records_ + a.tid * words_, records_ + b.tid * words_) < 0;
            });
    }
}

// Equal records are neighbours in the order, so a record is new if it differs from the one before.
const uint64_t* RecordSorter::next_in_memory() {
    while (given_ < count_) {
        const uint64_t* record = records_ + order_[given_].tid * words_;
        bool is_new =
            given_ == 0 || compare(record, records_ + order_[given_ - 1].tid * words_) != 0;
        given_++;
        if (is_new)
            return record;
    }
    return nullptr;
}

// ---- runs ----

// Writes the distinct records in memory as one run, and empties the array. The records go through a
// small buffer, because their order in memory is that of the input.
void RecordSorter::spill() {
    constexpr size_t kPiece = 1024; // words
    uint64_t piece[kPiece];
    size_t filled = 0;
    sort();
    if (!file_.exists())
        file_ = files_.create();
    int64 position = file_.size(), count = 0;
    while (const uint64_t* record = next_in_memory()) {
        if (filled + words_ > kPiece) {
            file_.append(piece, filled * sizeof(uint64_t));
            filled = 0;
        }
        std::copy_n(record, words_, piece + filled);
        filled += words_;
        count++;
    }
    file_.append(piece, filled * sizeof(uint64_t));
    note_run(position, count);
    pfree(order_);
    order_ = nullptr;
    given_ = count_ = 0;
}

// A run has no header in the file: where it begins, and how many records it has, is noted in
// memory.
void RecordSorter::note_run(int64 position, int64 count) {
    if (run_count_ == run_capacity_) {
        run_capacity_ = std::max(2 * run_capacity_, kFirstCapacity);
        runs_ = resized(context_, runs_, run_capacity_);
    }
    runs_[run_count_++] = {position, count, nullptr, nullptr, nullptr};
}

void RecordSorter::begin_merge() {
    // Half of the memory is shared by the runs' buffers. If there are many runs each still gets 128
    // records, and the buffers together may exceed that half.
    constexpr size_t kLeastBatch = 128, kGreatestBatch = 1 << 16;
    batch_ = std::clamp(memory_ / 2 / run_count_ / (words_ * sizeof(uint64_t)), kLeastBatch,
                        kGreatestBatch);
    size_t words_of_run = batch_ * words_;
    buffers_ = resized<uint64_t>(context_, nullptr, run_count_ * words_of_run + words_);
    // The allocation has room for one record more, the one that was given last.
    last_ = buffers_ + run_count_ * words_of_run;
    for (size_t i = 0; i < run_count_; i++) {
        runs_[i].buffer = buffers_ + i * words_of_run;
        fill(&runs_[i]); // no run is empty
    }
    // The standard heap has the greatest in front. With comes_after() for "less" that is the run
    // whose next record is the least.
    std::make_heap(runs_, runs_ + run_count_,
                   [this](const Run& a, const Run& b) { return comes_after(a, b); });
}

// Reads more of a run. False if nothing is left.
bool RecordSorter::fill(Run* run) {
    CHECK_FOR_INTERRUPTS();
    auto count = size_t(std::min<int64>(int64(batch_), run->left));
    size_t bytes = count * words_ * sizeof(uint64_t);
    // At the end of a run the buffer is empty, and the caller drops the run.
    if (count > 0)
        file_.read(run->position, run->buffer, bytes);
    run->position += int64(bytes);
    run->left -= int64(count);
    run->at = run->buffer;
    run->end = run->buffer + count * words_;
    return count > 0;
}

const uint64_t* RecordSorter::next_of_runs() {
    auto after = [this](const Run& a, const Run& b) { return comes_after(a, b); };
    while (run_count_ > 0) {
        // The run with the least record moves to the end, and back into the heap with its next
        // record. A record that several runs have comes from them one after another, so it is
        // compared with the last one only.
        std::pop_heap(runs_, runs_ + run_count_, after);
        Run& least = runs_[run_count_ - 1];
        bool is_new = !given_any_ || compare(least.at, last_) != 0;
        if (is_new)
            // This is a copy, because fill() below may overwrite the buffer before the caller
            // looks.
            std::copy_n(least.at, words_, last_);
        given_any_ = true;
        least.at += words_;
        if (least.at < least.end || fill(&least))
            std::push_heap(runs_, runs_ + run_count_, after);
        else
            run_count_--;
        if (is_new)
            return last_;
    }
    return nullptr;
}

// If no run was written, all records are in memory, and no file is needed. Otherwise the last
// records become a run, too, so that the array's memory is free for the buffers of the merge.
void RecordSorter::finish() {
    if (!file_.exists()) {
        sort();
        return;
    }
    if (count_ > 0)
        spill();
    pfree(records_);
    records_ = nullptr;
    begin_merge();
}

const uint64_t* RecordSorter::next() {
    return file_.exists() ? next_of_runs() : next_in_memory();
}

void RecordSorter::release() {
    for (void* memory : {static_cast<void*>(records_), static_cast<void*>(order_),
                         static_cast<void*>(runs_), static_cast<void*>(buffers_)})
        if (memory != nullptr)
            pfree(memory);
    file_.close();
    *this = RecordSorter(context_, memory_, int(words_));
}

} // namespace simhash
