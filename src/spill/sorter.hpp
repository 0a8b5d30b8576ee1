// Sorts more entries than memory holds. Whenever the memory is full, its entries are radix-sorted
// and written to a temporary file as a sorted run. At the end the runs are merged. The sort key of
// a KeyedValue is (key, value).
#pragma once

#include "spill/sorted_runs.hpp"

namespace simhash {

inline void sort_entries(std::span<uint64_t> entries, std::span<uint64_t> scratch) {
    radix_sort(entries, scratch, [] { CHECK_FOR_INTERRUPTS(); });
}
inline void sort_entries(std::span<KeyedValue> entries, std::span<KeyedValue> scratch) {
    sort_records(entries, scratch, [] { CHECK_FOR_INTERRUPTS(); });
}

// Entries in memory that grows up to a limit, and as much scratch memory to sort them.
template <typename Entry>
class SortBuffer {
  public:
    // Uses about memory_bytes at most, in the current memory context.
    explicit SortBuffer(size_t memory_bytes)
        : limit_(std::max<size_t>(memory_bytes / (2 * sizeof(Entry)), kFirstCapacity)),
          context_(CurrentMemoryContext) {}

    bool is_full() const { return count_ == limit_; }
    size_t count() const { return count_; }
    std::span<const Entry> entries() const { return {entries_, count_}; }

    // Expects that the buffer is not full.
    void add(Entry entry) {
        if (count_ == capacity_)
            grow();
        entries_[count_++] = entry;
    }

    void sort() {
        CHECK_FOR_INTERRUPTS();
        sort_entries(std::span<Entry>(entries_, count_), scratch());
    }

    // Scratch memory for as many entries, free to use until the next sort.
    std::span<Entry> scratch() {
        if (scratch_capacity_ < count_) {
            if (scratch_ != nullptr)
                pfree(scratch_);
            scratch_capacity_ = capacity_;
            scratch_ = static_cast<Entry*>(
                MemoryContextAllocHuge(context_, scratch_capacity_ * sizeof(Entry)));
        }
        return {scratch_, count_};
    }

    void clear() { count_ = 0; }

    void release() {
        for (Entry* memory : {entries_, scratch_})
            if (memory != nullptr)
                pfree(memory);
        *this = SortBuffer(0);
    }

  private:
    static constexpr size_t kFirstCapacity = 8192; // entries

    void grow() {
        capacity_ = std::min(limit_, std::max(kFirstCapacity, capacity_ * 2));
        size_t bytes = capacity_ * sizeof(Entry);
        entries_ = static_cast<Entry*>(entries_ == nullptr ? MemoryContextAllocHuge(context_, bytes)
                                                           : repalloc_huge(entries_, bytes));
    }

    size_t limit_; // entries at most
    MemoryContext context_;
    size_t capacity_ = 0, count_ = 0, scratch_capacity_ = 0;
    Entry* entries_ = nullptr;
    Entry* scratch_ = nullptr;
};

template <typename Entry>
class ExternalSorter {
  public:
    // Uses about memory_bytes at most, in the current memory context.
    explicit ExternalSorter(size_t memory_bytes) : memory_(memory_bytes), buffer_(memory_bytes) {}

    void add(Entry entry) {
        if (buffer_.is_full())
            spill();
        buffer_.add(entry);
    }

    // Ends the input. Afterwards next() gives the entries in order.
    void finish() {
        if (!file_.exists()) {
            buffer_.sort();
            block_ = buffer_.entries();
            return;
        }
        spill();
        buffer_.release();
        visit_sorted_runs<Entry>(file_, [&](const SortedRun<Entry>& run) { merge_.add(run); });
        merge_.begin(memory_);
    }

    bool next(Entry* entry) {
        if (block_.empty() && file_.exists())
            block_ = merge_.next();
        if (block_.empty())
            return false;
        *entry = block_.front();
        block_ = block_.subspan(1);
        return true;
    }

    void release() {
        buffer_.release();
        merge_.release();
        file_.close();
        *this = ExternalSorter(0);
    }

  private:
    void spill() {
        if (!file_.exists())
            file_ = TemporaryFile::create();
        buffer_.sort();
        write_sorted_run(&file_, buffer_.entries());
        buffer_.clear();
    }

    size_t memory_;
    SortBuffer<Entry> buffer_;
    TemporaryFile file_;
    Merge<Entry> merge_;
    std::span<const Entry> block_;
};

} // namespace simhash
