// Sorts more entries than memory holds. Whenever the memory is full, its entries are radix-sorted
// and written to a temporary file as a sorted run. At the end the runs are merged. AnyEntry is
// Entry, Pair, or uint64_t where there is only a key.
#pragma once

#include "server/growing.hpp"
#include "server/sorted_runs.hpp"

namespace simhash {

// Keys are sorted by all their bits. Entries are sorted by key, and then by TID; pairs likewise.
inline void sort_entries(std::span<uint64_t> entries, std::span<uint64_t> scratch) {
    radix_sort(entries, scratch, [] { CHECK_FOR_INTERRUPTS(); });
}
template <typename AnyEntry>
void sort_entries(std::span<AnyEntry> entries, std::span<AnyEntry> scratch) {
    sort_records(entries, scratch, [] { CHECK_FOR_INTERRUPTS(); });
}

// Entries in memory that grows up to a limit, and as much scratch memory to sort them.
template <typename AnyEntry>
class SortBuffer {
  public:
    // Uses about memory_bytes at most, in the current memory context.
    // Half of the memory is scratch.
    explicit SortBuffer(size_t memory_bytes)
        : limit_(std::max<size_t>(memory_bytes / (2 * sizeof(AnyEntry)), kFirstCapacity)),
          context_(CurrentMemoryContext) {}

    size_t limit() const { return limit_; }
    bool is_full() const { return count_ == limit_; }
    size_t count() const { return count_; }
    std::span<const AnyEntry> entries() const { return {entries_, count_}; }

    // Expects that the buffer is not full.
    void add(AnyEntry entry) {
        if (count_ == capacity_)
            grow();
        entries_[count_++] = entry;
    }

    // Sorts in place, with scratch memory of the same size.
    void sort() {
        CHECK_FOR_INTERRUPTS();
        sort_entries(std::span<AnyEntry>(entries_, count_), scratch());
    }

    // Scratch memory for as many entries, free to use until the next sort.
    std::span<AnyEntry> scratch() {
        if (scratch_capacity_ < count_) {
            if (scratch_ != nullptr)
                pfree(scratch_);
            // The scratch becomes as large as the buffer, not only as what that holds now: the next
            // sort may be of more entries.
            scratch_capacity_ = capacity_;
            scratch_ = static_cast<AnyEntry*>(
                MemoryContextAllocHuge(context_, scratch_capacity_ * sizeof(AnyEntry)));
        }
        return {scratch_, count_};
    }

    // Keeps the memory, for the next run is as large.
    void clear() { count_ = 0; }

    void release() {
        for (AnyEntry* memory : {entries_, scratch_})
            if (memory != nullptr)
                pfree(memory);
        *this = SortBuffer(0);
    }

  private:
    static constexpr size_t kFirstCapacity = 8192; // entries

    void grow() {
        capacity_ = std::min(limit_, std::max(kFirstCapacity, capacity_ * 2));
        entries_ = resized(context_, entries_, capacity_);
    }

    size_t limit_; // entries at most
    MemoryContext context_;
    size_t capacity_ = 0, count_ = 0, scratch_capacity_ = 0;
    AnyEntry* entries_ = nullptr;
    AnyEntry* scratch_ = nullptr;
};

template <typename AnyEntry>
class ExternalSorter {
  public:
    // Uses about memory_bytes at most, in the current memory context.
    explicit ExternalSorter(size_t memory_bytes)
        : memory_(memory_bytes), buffer_(memory_bytes), files_(CurrentMemoryContext) {}

    void add(AnyEntry entry) {
        if (buffer_.is_full())
            spill();
        buffer_.add(entry);
    }

    // Ends the input. Afterwards next() gives the entries in order.
    // Entries that are equal all come back, each as often as it was added.
    void finish() {
        if (!file_.exists()) {
            buffer_.sort();
            batch_ = buffer_.entries();
            return;
        }
        spill();
        // The buffer and the merge have the same memory one after the other.
        buffer_.release();
        visit_sorted_runs<AnyEntry>(file_,
                                    [&](const SortedRun<AnyEntry>& run) { merge_.add(run); });
        merge_.begin(memory_);
    }

    // Returns false at the end. In memory there is one batch, of all entries; from a file they come
    // batch by batch.
    bool next(AnyEntry* entry) {
        if (batch_.empty() && file_.exists())
            batch_ = merge_.next();
        if (batch_.empty())
            return false;
        *entry = batch_.front();
        batch_ = batch_.subspan(1);
        return true;
    }

    void release() {
        buffer_.release();
        merge_.release();
        file_.close();
        batch_ = {};
    }

  private:
    void spill() {
        if (!file_.exists())
            file_ = files_.create();
        buffer_.sort();
        write_sorted_run(&file_, buffer_.entries());
        buffer_.clear();
    }

    size_t memory_;
    SortBuffer<AnyEntry> buffer_;
    TemporaryFiles files_;
    TemporaryFile file_;
    Merge<AnyEntry> merge_;
    std::span<const AnyEntry> batch_;
};

} // namespace simhash
