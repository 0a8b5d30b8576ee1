// Turns rows into sorted runs. See the header.
#include "index/build/run_collector.hpp"

#include <new>

namespace simhash {

SharedFileName::SharedFileName(const char* what, int first, int second) {
    snprintf(text, sizeof(text), "%s.%d.%d", what, first, second);
}

TemporaryFile* SortedRunFiles::file_to_write(int tree) {
    // There is a file for each tree, so that each can be merged, and its file removed, alone.
    TemporaryFile* file = &files_[tree];
    if (!file->exists())
        *file =
            shared_ == nullptr
                ? own_.create()
                : TemporaryFile::create(shared_, SharedFileName("runs", participant_, tree).text);
    return file;
}

void SortedRunFiles::close() {
    for (TemporaryFile& file : files_)
        file.close();
}

TemporaryFile SortedRunFiles::open(SharedFileSet* shared, int participant, int tree) {
    return TemporaryFile::open(shared, SharedFileName("runs", participant, tree).text);
}

SortedRunCollector::SortedRunCollector(const Layout* layout, size_t memory, SortedRunFiles* files)
    : layout_(layout), files_(files), nulls_(memory / 8) {
    size_t lanes = size_t(lane_count());
    postings_ = static_cast<SortBuffer<Entry>*>(palloc(lanes * sizeof(SortBuffer<Entry>)));
    for (size_t lane = 0; lane < lanes; lane++)
        // An eighth is for rows without lanes. Equal parts make the buffers of all lanes full at
        // the same row.
        new (&postings_[lane]) SortBuffer<Entry>(memory / 8 * 7 / lanes);
}

void SortedRunCollector::finish(bool write_all) {
    // A tree is written from memory or from its file, not from both.
    bool written = write_all || files_->file(0).exists();
    if (written)
        write_postings();
    for (int lane = 0; lane < lane_count(); lane++) {
        if (written)
            postings_[lane].release(); // the merge needs the memory
        else
            postings_[lane].sort();
    }
    // The null table has runs of its own, and may be in memory where the other trees are in files.
    if (write_all || files_->file(null_tree(*layout_)).exists()) {
        write_nulls();
        nulls_.release();
    } else {
        nulls_.sort();
    }
}

void SortedRunCollector::release() {
    for (int lane = 0; lane < lane_count(); lane++)
        postings_[lane].release();
    nulls_.release();
}

namespace {

// Copies the distinct fingerprints of sorted postings to `keys`, and returns their number.
size_t put_distinct(std::span<const Entry> postings, uint64_t* keys) {
    // `keys` may have as many as there are postings.
    size_t count = 0;
    for (size_t i = 0; i < postings.size(); i++)
        if (i == 0 || postings[i].key != postings[i - 1].key)
            keys[count++] = postings[i].key;
    return count;
}

} // namespace

// Makes each table's keys from the keys of the table after it, and the last table's from the
// postings, which are in the order of the first table. So the source is in the order of the bits
// that follow the table's prefix, and a sort by the prefix alone is enough.
std::span<const uint64_t> SortedRunCollector::block_keys(int tree) {
    SortBuffer<Entry>& postings = postings_of(tree);
    // This is the memory that the postings were sorted with: for each posting two lanes, the first
    // half for the keys, the second to sort them.
    std::span<Entry> room = postings.scratch();
    static_assert(sizeof(Entry) == 2 * sizeof(uint64_t));
    auto* memory = reinterpret_cast<uint64_t*>(room.data());
    // The first table comes after the last one: that is the posting table.
    int table = table_of_tree(*layout_, tree), after = (table + 1) % layout_->table_count;
    if (after == 0)
        key_count_ = put_distinct(postings.entries(), memory);
    std::span keys(memory, key_count_), scratch(memory + room.size(), key_count_);
    Permutation permutation = layout_->permutation(table), last = layout_->permutation(after);
    for (uint64_t& key : keys)
        // This changes the key from one table's order of bits to the other's.
        key = permutation.apply(last.invert(key));
    auto pause = [] { CHECK_FOR_INTERRUPTS(); };
    // A radix sort is stable: within a prefix the keys keep the order that they came in. The prefix
    // stands in the highest bits of a permuted key.
    radix_sort(keys, scratch, pause, unsigned(kFingerprintBits - layout_->prefix_bits(table)));
    return keys;
}

void SortedRunCollector::write_postings() {
    if (postings_[0].count() == 0)
        return;
    for (int lane = 0; lane < lane_count(); lane++) {
        int first = tree_of_table(*layout_, lane, 0);
        postings_[lane].sort();
        write_sorted_run(files_->file_to_write(first), postings_[lane].entries());
        // From the last table to the first, as block_keys() asks for.
        for (int tree = first + layout_->table_count - 1; tree > first; tree--)
            write_sorted_run(files_->file_to_write(tree), block_keys(tree));
        postings_[lane].clear();
    }
}

void SortedRunCollector::write_nulls() {
    if (nulls_.count() == 0)
        return;
    nulls_.sort();
    write_sorted_run(files_->file_to_write(null_tree(*layout_)), nulls_.entries());
    nulls_.clear();
}

} // namespace simhash
