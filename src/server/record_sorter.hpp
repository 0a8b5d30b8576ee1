// Sorts records of as many words as the caller says, more than memory holds, and gives each
// distinct one once. Where the size is known when this is compiled, ExternalSorter does it.
//
// In memory the records stay where they are, and entries (first word, place) are sorted. Whenever
// the memory is full, its distinct records are written to a temporary file in order, as a sorted
// run. At the end the runs are merged, by a heap of their next records.
#pragma once

#include "server/sorter.hpp"

namespace simhash {

class RecordSorter {
  public:
    // Uses about memory_bytes at most, in this memory context; of few records, little.
    RecordSorter(MemoryContext context, size_t memory_bytes, int words);

    // record: [words]
    // Copies the record, and may write a run.
    void add(const uint64_t* record) {
        if (count_ == capacity_)
            make_room();
        std::copy_n(record, words_, records_ + count_++ * words_);
        added_++;
    }

    // How many were added.
    size_t added() const { return added_; }

    // True when some records are in a file, which release() removes.
    bool is_spilled() const { return file_.exists(); }

    // Ends the input. Afterwards next() gives the distinct records in order, and null at the end.
    // A record is valid until the next call.
    void finish();
    const uint64_t* next();

    void release();

  private:
    // A run of the file, and the part of it that is in memory.
    struct Run {
        int64 position, left; // bytes, records: not yet read
        uint64_t* at;
        uint64_t* end;
        uint64_t* buffer; // [batch_ * words_]
    };

    // The memory doubles up to the limit; then each call writes a run and empties the array.
    void make_room();
    // Makes order_ of the records in memory. finish() and spill() call it.
    void sort();
    const uint64_t* next_in_memory();
    void spill();
    void note_run(int64 position, int64 count);
    void begin_merge();
    bool fill(Run* run);
    const uint64_t* next_of_runs();
    int compare(const uint64_t* a, const uint64_t* b) const;
    bool comes_after(const Run& a, const Run& b) const { return compare(a.at, b.at) > 0; }

    MemoryContext context_;
    size_t memory_;
    size_t words_;
    // A record counts with its words, and with two entries to sort it by.
    size_t limit_; // records in memory
    size_t capacity_ = 0, count_ = 0, added_ = 0;
    uint64_t* records_ = nullptr; // [capacity_ * words_]
    Entry* order_ = nullptr;      // [count_], once the records are sorted
    size_t given_ = 0;            // of order_
    TemporaryFiles files_;
    TemporaryFile file_;
    size_t run_count_ = 0, run_capacity_ = 0;
    Run* runs_ = nullptr;         // [run_capacity_]; a heap while they are merged
    size_t batch_ = 0;            // records of a run's buffer
    uint64_t* buffers_ = nullptr; // of the runs
    uint64_t* last_ = nullptr;    // [words_]: the last record that was given
    bool given_any_ = false;
};

} // namespace simhash
