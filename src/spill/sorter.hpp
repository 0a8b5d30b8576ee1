// Sorting more than memory holds: parts are radix-sorted in memory, written to a temporary file
// where they do not fit, and merged. The sort key of a KeyedValue is (key, value).
#pragma once

#include <algorithm>
#include <span>

#include "pg.hpp"
#include "core/whole/radix_sort.hpp"

namespace simhash {

template <typename Entry>
class ExternalSorter {
  public:
    // Uses about memory_bytes at most, which `setting` allows, in the current memory context.
    ExternalSorter(size_t memory_bytes, const char* setting)
        : limit_(std::max<size_t>(memory_bytes / (2 * sizeof(Entry)), kFirstCapacity)),
          setting_(setting), context_(CurrentMemoryContext) {}

    void add(Entry entry) {
        if (count_ == capacity_)
            make_room();
        entries_[count_++] = entry;
    }

    // Ends the input. Afterwards next() gives the entries in order.
    void finish() {
        sort_memory();
        if (part_count_ == 0)
            return;
        spill();
        begin_merge();
    }

    bool next(Entry* entry) {
        if (part_count_ == 0) {
            if (position_ == count_)
                return false;
            *entry = entries_[position_++];
            return true;
        }
        if (heap_size_ == 0)
            return false;
        *entry = heap_[0].entry;
        if (!read_part(heap_[0].part, &heap_[0].entry))
            heap_[0] = heap_[--heap_size_];
        sift_down(0);
        return true;
    }

    void release() {
        for (void* memory : {static_cast<void*>(entries_), static_cast<void*>(scratch_),
                             static_cast<void*>(parts_), static_cast<void*>(heap_)})
            if (memory != nullptr)
                pfree(memory);
        if (file_ != nullptr)
            BufFileClose(file_);
        *this = ExternalSorter(0, setting_);
    }

  private:
    static constexpr size_t kFirstCapacity = 8192; // entries
    static constexpr int kMaxParts = 4096;

    struct Part {
        int64 entries; // that are still in the file
        int file;      // where they begin: BufFile's file number and offset
        off_t offset;
        Entry* buffer; // a part of entries_
        size_t position, filled;
    };
    struct HeapItem {
        Entry entry;
        int part;
    };

    static bool less(uint64_t a, uint64_t b) { return a < b; }
    static bool less(const KeyedValue& a, const KeyedValue& b) {
        return a.key != b.key ? a.key < b.key : a.value < b.value;
    }

    void make_room() {
        if (count_ == limit_) {
            sort_memory();
            spill();
            return;
        }
        capacity_ = std::min(limit_, std::max(kFirstCapacity, capacity_ * 2));
        size_t bytes = capacity_ * sizeof(Entry);
        entries_ = static_cast<Entry*>(entries_ == nullptr ? MemoryContextAllocHuge(context_, bytes)
                                                           : repalloc_huge(entries_, bytes));
    }

    void sort_memory() {
        CHECK_FOR_INTERRUPTS();
        if (count_ < 2)
            return;
        if (scratch_capacity_ < count_) {
            if (scratch_ != nullptr)
                pfree(scratch_);
            scratch_capacity_ = capacity_;
            scratch_ = static_cast<Entry*>(
                MemoryContextAllocHuge(context_, scratch_capacity_ * sizeof(Entry)));
        }
        radix_sort(std::span<Entry>(entries_, count_), std::span<Entry>(scratch_, count_),
                   [] { CHECK_FOR_INTERRUPTS(); });
        sort_ties();
    }

    // The radix sort is stable and TIDs mostly arrive in order; heap-only tuples may break it
    // within a page.
    void sort_ties() {
        if constexpr (sizeof(Entry) == sizeof(KeyedValue)) {
            for (size_t begin = 0; begin < count_;) {
                size_t end = begin + 1;
                bool ordered = true;
                for (; end < count_ && entries_[end].key == entries_[begin].key; end++)
                    ordered &= entries_[end - 1].value < entries_[end].value;
                if (!ordered)
                    std::sort(entries_ + begin, entries_ + end,
                              [](auto& a, auto& b) { return less(a, b); });
                begin = end;
            }
        }
    }

    void spill() {
        if (file_ == nullptr)
            file_ = BufFileCreateTemp(false);
        if (part_count_ == kMaxParts)
            ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                            errmsg("sort needs more than %d parts", kMaxParts),
                            errhint("Increase %s.", setting_)));
        if (part_count_ % 64 == 0)
            parts_ = static_cast<Part*>(part_count_ == 0
                                            ? MemoryContextAlloc(context_, 64 * sizeof(Part))
                                            : repalloc(parts_, (part_count_ + 64) * sizeof(Part)));
        Part& part = parts_[part_count_++];
        part = Part{int64(count_), 0, 0, nullptr, 0, 0};
        BufFileTell(file_, &part.file, &part.offset);
        constexpr size_t kChunk = 1 << 16; // entries
        for (size_t at = 0; at < count_; at += kChunk) {
            CHECK_FOR_INTERRUPTS();
            BufFileWrite(file_, entries_ + at, std::min(kChunk, count_ - at) * sizeof(Entry));
        }
        count_ = 0;
    }

    void begin_merge() {
        size_t share = std::max<size_t>(capacity_ / part_count_, 1);
        heap_ =
            static_cast<HeapItem*>(MemoryContextAlloc(context_, part_count_ * sizeof(HeapItem)));
        for (int i = 0; i < part_count_; i++) {
            parts_[i].buffer = entries_ + i * share;
            part_share_ = share;
            HeapItem item{{}, i};
            if (read_part(i, &item.entry))
                heap_[heap_size_++] = item;
        }
        for (int i = heap_size_ / 2; i >= 0; i--)
            sift_down(i);
    }

    bool read_part(int i, Entry* entry) {
        Part& part = parts_[i];
        if (part.position == part.filled) {
            if (part.entries == 0)
                return false;
            CHECK_FOR_INTERRUPTS();
            part.filled = std::min<size_t>(part_share_, size_t(part.entries));
            part.position = 0;
            size_t bytes = part.filled * sizeof(Entry);
            if (BufFileSeek(file_, part.file, part.offset, SEEK_SET) != 0 ||
                read_file(part.buffer, bytes) != bytes)
                ereport(ERROR, (errcode_for_file_access(),
                                errmsg("could not read from temporary file: %m")));
            BufFileTell(file_, &part.file, &part.offset);
            part.entries -= int64(part.filled);
        }
        *entry = part.buffer[part.position++];
        return true;
    }

    size_t read_file(void* out, size_t bytes) { return BufFileRead(file_, out, bytes); }

    void sift_down(int at) {
        for (;;) {
            int least = at;
            for (int child = 2 * at + 1; child <= 2 * at + 2 && child < heap_size_; child++)
                if (less(heap_[child].entry, heap_[least].entry))
                    least = child;
            if (least == at)
                return;
            std::swap(heap_[at], heap_[least]);
            at = least;
        }
    }

    size_t limit_; // entries in memory at most
    const char* setting_;
    MemoryContext context_;
    size_t capacity_ = 0, count_ = 0, position_ = 0;
    Entry* entries_ = nullptr;
    Entry* scratch_ = nullptr;
    size_t scratch_capacity_ = 0;
    BufFile* file_ = nullptr;
    Part* parts_ = nullptr;
    int part_count_ = 0;
    size_t part_share_ = 0; // entries of a part in memory while merging
    HeapItem* heap_ = nullptr;
    int heap_size_ = 0;
};

} // namespace simhash
