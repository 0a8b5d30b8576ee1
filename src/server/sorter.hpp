// Sorts more entries than memory holds. Whenever the memory is full, its entries are radix-sorted
// and written to a temporary file as a sorted run. At the end the runs are merged. AnyEntry is
// Entry, Pair, or uint64_t where there is only a key.
//
// The server's tuplesort compares what a radix sort deals out: 10 million random keys with 100 MB
// take it 1.8 s of processor time, and this .34 s. To it, each key is 24 bytes of memory, and two
// numbers are a tuple.
//
// A file holds runs one after another: for each, the number of entries and then the entries in
// order. In this file a run is always a sorted run.
#pragma once

#include "server/pg.hpp"

#include <algorithm>
#include <span>

#include "core/bits/sort.hpp"
#include "server/arguments.hpp"
#include "server/temporary_file.hpp"

namespace simhash {

// ---- sorted runs ----

// The header of 8 bytes tells a reader where the next run begins. So a file needs no list of its
// runs, and another participant can read it without being told.
template <typename AnyEntry>
void write_sorted_run(TemporaryFile* file, std::span<const AnyEntry> entries) {
    auto count = int64(entries.size());
    file->append(&count, sizeof(count));
    file->append(entries.data(), entries.size_bytes());
}

// A run, or a part of one.
template <typename AnyEntry>
struct SortedRun {
    TemporaryFile file;
    int64 position; // of its first entry, in bytes
    int64 count;

    // Reads one entry from the file. For samples and binary searches; a merge reads batches.
    AnyEntry operator[](int64 i) const {
        AnyEntry entry;
        file.read(position + i * int64(sizeof(AnyEntry)), &entry, sizeof(entry));
        return entry;
    }

    // The number of entries that are less than the bound.
    // This is a binary search in the file: it takes about log2(count) reads of one entry.
    int64 count_before(const Entry& bound) const {
        int64 low = 0, high = count;
        while (low < high) {
            int64 middle = (low + high) / 2;
            if (Entry((*this)[middle]) < bound)
                low = middle + 1;
            else
                high = middle;
        }
        return low;
    }

    // The entries begin .. end - 1 as a run of its own. Nothing is copied.
    SortedRun part(int64 begin, int64 end) const {
        return {file, position + begin * int64(sizeof(AnyEntry)), end - begin};
    }
};

// Calls visit(run) for the runs of a file.
template <typename AnyEntry, typename Visit>
void visit_sorted_runs(const TemporaryFile& file, const Visit& visit) {
    for (int64 position = 0; position < file.size();) {
        SortedRun<AnyEntry> run{file, position + int64(sizeof(int64)), 0};
        file.read(position, &run.count, sizeof(run.count));
        visit(run);
        position = run.position + run.count * int64(sizeof(AnyEntry));
    }
}

// Merges runs. The runs are the leaves of a binary tree. Each node above them merges batches of
// entries of its two children into a batch of its own.
//
// Of 4 runs, nodes 0 to 2 are inner ones, and 3 to 6 are the runs. The children of node i are
// nodes 2 i + 1 and 2 i + 2, as in a heap that stands in an array:
//
//     node 0    nodes 1 and 2
//     node 1    nodes 3 and 4, which are runs 0 and 1
//     node 2    nodes 5 and 6, which are runs 2 and 3
//
// An entry is compared once on each level at most, log2(runs) times in all. Each comparison is in a
// tight loop over two batches (merge_some()), which has no branch that depends on the entries.
// Equal entries all come out; the caller drops those that it does not want.
template <typename AnyEntry>
class Merge {
  public:
    void add(const SortedRun<AnyEntry>& run) {
        // An empty run would be a node that never has entries.
        if (run.count == 0)
            return;
        Assert(runs_.size() <= INT_MAX / 4); // numbers of nodes are ints, and up to twice that
        runs_.add(run);
    }

    // Must be called after the last run was added. The runs' buffers take about `memory` bytes in
    // all, or more if a run would get fewer than kLeastBatch entries.
    void begin(size_t memory) {
        size_t runs = runs_.size();
        if (runs == 0)
            return;
        // A binary tree with n leaves has n - 1 inner nodes. Only the runs' buffers grow with the
        // memory: large ones save reads of the file, while those of inner nodes are best in the
        // processor's cache.
        size_t inner = runs - 1;
        run_batch_ =
            std::clamp(memory / sizeof(AnyEntry) / runs, kLeastBatch, size_t{kGreatestBatch});
        // One allocation: first the buffers of the inner nodes, then those of the runs.
        AnyEntry* buffer = buffers_.add_room(inner * kBatch + runs * run_batch_);
        nodes_.add_room(inner + runs);
        for (size_t i = 0; i < inner + runs; i++) {
            nodes_.add({buffer, buffer, buffer});
            buffer += i < inner ? kBatch : run_batch_;
        }
    }

    // Returns the next entries in order, or none at the end. They are valid until the next call.
    std::span<const AnyEntry> next() {
        if (runs_.size() == 0 || !fill(0))
            return {};
        Node& root = nodes_[0];
        // The whole batch is handed out, so the next call fills the root again.
        std::span<const AnyEntry> batch(root.at, root.end);
        root.at = root.end;
        return batch;
    }

    void release() {
        runs_.release();
        nodes_.release();
        buffers_.release();
    }

  private:
    // A batch is 8 kB of entries, or 4 kB of keys.
    static constexpr size_t kBatch = 512;      // entries of a node above the runs
    static constexpr size_t kLeastBatch = 512; // entries of a run's buffer, at least
    static constexpr size_t kGreatestBatch = 1 << 16;

    struct Node {
        AnyEntry* at; // entries that the node above has not taken yet
        AnyEntry* end;
        AnyEntry* buffer;
    };

    bool has_entries(int node) { return nodes_[node].at < nodes_[node].end || fill(node); }

    // Fills the node's empty buffer. Returns false if nothing is left.
    bool fill(int node) {
        int inner = int(runs_.size()) - 1;
        if (node < inner)
            merge_children(node);
        else
            read_run(&nodes_[node], &runs_[node - inner]);
        return nodes_[node].at < nodes_[node].end;
    }

    void read_run(Node* node, SortedRun<AnyEntry>* run) {
        CHECK_FOR_INTERRUPTS();
        int64 count = std::min(int64(run_batch_), run->count);
        node->at = node->end = node->buffer;
        if (count == 0)
            return;
        run->file.read(run->position, node->buffer, size_t(count) * sizeof(AnyEntry));
        node->end += count;
        // The run is now what is left of it in the file.
        *run = run->part(count, run->count);
    }

    void merge_children(int parent) {
        Node& node = nodes_[parent];
        AnyEntry* to = node.buffer;
        AnyEntry* limit = to + kBatch;
        while (to < limit) {
            // Fills a child that is empty, and its children in turn. Both are asked, because only a
            // child that still has nothing then is at its end.
            bool first = has_entries(2 * parent + 1), second = has_entries(2 * parent + 2);
            if (!first && !second)
                break;
            Node& a = nodes_[2 * parent + 1];
            Node& b = nodes_[2 * parent + 2];
            if (first && second)
                to = merge_some(&a, &b, to, limit - to);
            else
                to = copy_some(first ? &a : &b, to, limit - to);
        }
        node.at = node.buffer;
        node.end = to;
    }

    static AnyEntry* copy_some(Node* from, AnyEntry* to, ptrdiff_t most) {
        ptrdiff_t count = std::min(from->end - from->at, most);
        std::copy_n(from->at, count, to);
        from->at += count;
        return to + count;
    }

    // Merges as many entries as the shorter side has, so that neither side runs out in the loop.
    static AnyEntry* merge_some(Node* a, Node* b, AnyEntry* to, ptrdiff_t most) {
        ptrdiff_t count = std::min({a->end - a->at, b->end - b->at, most});
        const AnyEntry* from_a = a->at;
        const AnyEntry* from_b = b->at;
        for (ptrdiff_t i = 0; i < count; i++) {
            // There is no branch: which side comes next is as good as random, and a wrong guess of
            // the processor costs more than the comparison.
            bool second = comes_before(*from_b, *from_a);
            to[i] = second ? *from_b : *from_a;
            from_b += second;
            from_a += !second;
        }
        a->at += from_a - a->at;
        b->at += from_b - b->at;
        return to + count;
    }

    GrowingArray<SortedRun<AnyEntry>> runs_{server_memory()};
    size_t run_batch_ = 0;                      // entries of a run's buffer
    GrowingArray<Node> nodes_{server_memory()}; // above the runs, the root first; then the runs'
    GrowingArray<AnyEntry> buffers_{server_memory()};
};

// ---- sorting ----

// Entries in memory that grows up to a limit, and as much scratch memory to sort them.
template <typename AnyEntry>
class SortBuffer {
  public:
    // Uses about memory_bytes at most, in the current memory context.
    // Half of the memory is scratch.
    explicit SortBuffer(size_t memory_bytes, unsigned low_bit = 0)
        : limit_(std::max<size_t>(memory_bytes / (2 * sizeof(AnyEntry)), kLeastLimit)),
          low_bit_(low_bit), context_(CurrentMemoryContext) {}

    size_t limit() const { return limit_; }
    bool is_full() const { return count_ == limit_; }
    size_t count() const { return count_; }
    std::span<const AnyEntry> entries() const { return {entries_, count_}; }
    AnyEntry* data() { return entries_; }

    void add(AnyEntry entry) {
        if (room() == 0)
            grow();
        entries_[count_++] = entry;
    }

    // The limit must allow so many more.
    void add_all(std::span<const AnyEntry> entries) {
        [[maybe_unused]] bool fits = make_room(entries.size());
        Assert(fits);
        std::copy_n(entries.data(), entries.size(), entries_ + count_);
        count_ += entries.size();
    }

    // How many entries more add() takes before it has to allocate.
    size_t room() const { return capacity_ - count_; }
    // Allocates for so many entries more. Returns false, with nothing done, if the limit allows
    // fewer.
    bool make_room(size_t more) {
        if (count_ + more > limit_)
            return false;
        while (room() < more)
            grow();
        return true;
    }

    // Entries are sorted by key, and then by TID; pairs likewise; keys by their bits from low_bit
    // up.
    void sort() {
        kPause();
        std::span<AnyEntry> all(entries_, count_);
        if (std::is_sorted(all.begin(), all.end()))
            return;
        if (count_ <= kFirstCapacity) // which the counters of a radix sort exceed
            sort_ascending(all.begin(), all.end());
        else if constexpr (std::is_same_v<AnyEntry, uint64_t>)
            radix_sort(all, scratch(), kPause, low_bit_);
        else
            sort_records(all, scratch(), kPause);
    }

    // Keeps those keys whose leading 32 bits, which are spread about evenly, others have, too, and
    // few others: in the order of these bits.
    void sort_repeated() { count_ = simhash::sort_repeated({entries_, count_}, scratch(), kPause); }

    // Sorts, and keeps one of equal entries.
    void drop_repeated() {
        sort();
        count_ = size_t(std::unique(entries_, entries_ + count_) - entries_);
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
        entries_ = scratch_ = nullptr;
        capacity_ = count_ = scratch_capacity_ = 0;
    }

  private:
    static constexpr size_t kFirstCapacity = 64, kLeastLimit = 8192; // entries

    void grow() {
        Assert(count_ < limit_);
        capacity_ = std::min(limit_, std::max(kFirstCapacity, capacity_ * 2));
        size_t bytes = capacity_ * sizeof(AnyEntry);
        entries_ =
            static_cast<AnyEntry*>(entries_ == nullptr ? MemoryContextAllocHuge(context_, bytes)
                                                       : repalloc_huge(entries_, bytes));
    }

    size_t limit_; // entries at most
    unsigned low_bit_;
    MemoryContext context_;
    size_t capacity_ = 0, count_ = 0, scratch_capacity_ = 0;
    AnyEntry* entries_ = nullptr;
    AnyEntry* scratch_ = nullptr;
};

template <typename AnyEntry>
class ExternalSorter {
  public:
    // Uses about memory_bytes at most, in the current memory context. low_bit: of keys that are to
    // be in order of their leading bits alone
    explicit ExternalSorter(size_t memory_bytes, unsigned low_bit = 0)
        : memory_(memory_bytes), buffer_(memory_bytes, low_bit), files_(CurrentMemoryContext) {}

    // Entries that fit in memory.
    size_t room() const { return buffer_.limit(); }

    void add(AnyEntry entry) {
        if (buffer_.is_full())
            spill();
        buffer_.add(entry);
    }

    void add_all(std::span<const AnyEntry> entries) {
        while (!entries.empty()) {
            if (buffer_.is_full())
                spill();
            size_t count = std::min(entries.size(), buffer_.limit() - buffer_.count());
            buffer_.add_all(entries.first(count));
            entries = entries.subspan(count);
        }
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

    // As finish(), where only the keys whose leading 32 bits others have, too, are asked for. They
    // are spread about evenly. Others may come.
    void finish_repeated() {
        if (file_.exists())
            return finish();
        buffer_.sort_repeated();
        batch_ = buffer_.entries();
    }

    // Returns false at the end. In memory there is one batch, of all entries; a file has many.
    bool next(AnyEntry* entry) {
        if (batch_.empty() && file_.exists())
            batch_ = merge_.next();
        if (batch_.empty())
            return false;
        *entry = batch_.front();
        batch_ = batch_.subspan(1);
        return true;
    }

    // Begins anew. Keeps the memory of entries that all fitted.
    void clear() {
        buffer_.clear();
        merge_.release();
        file_.close();
        batch_ = {};
    }
    void release() {
        clear();
        buffer_.release();
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
