// Turns rows into sorted runs. See the header.
#include "index/build/run_collector.hpp"

#include <bit>

#include "core/bits/permutation.hpp"
#include "core/layout/blocks.hpp"

namespace simhash {

SharedFileName::SharedFileName(const char* what, int first, int second) {
    snprintf(text, sizeof(text), "%s.%d.%d", what, first, second);
}

TemporaryFile* SortedRunFiles::file_to_write(int tree) {
    TemporaryFile* file = &files_[tree];
    if (!file->exists())
        *file =
            shared_ == nullptr
                ? TemporaryFile::create()
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

void SortedRunCollector::finish(bool write_all) {
    if (write_all || files_->file(0).exists()) {
        write_postings();
        postings_.release(); // the merge needs the memory
    } else {
        postings_.sort();
    }
    if (write_all || files_->file(null_tree(*layout_)).exists()) {
        write_nulls();
        nulls_.release();
    } else {
        nulls_.sort();
    }
}

namespace {

// Copies the distinct fingerprints of sorted postings to `keys`, and returns their number.
size_t put_distinct(std::span<const Entry> postings, uint64_t* keys) {
    size_t count = 0;
    for (size_t i = 0; i < postings.size(); i++)
        if (i == 0 || postings[i].key != postings[i - 1].key)
            keys[count++] = postings[i].key;
    return count;
}

} // namespace

// Makes each table's keys from the keys of the table after it, and the last table's from the
// postings, which are in the order of the first table. If the source is in the order of the bits
// that follow the table's prefix, a sort by the prefix alone is enough.
std::span<const uint64_t> SortedRunCollector::block_keys(int tree) {
    std::span<Entry> room = postings_.scratch();
    static_assert(sizeof(Entry) == 2 * sizeof(uint64_t));
    auto* memory = reinterpret_cast<uint64_t*>(room.data());
    int after = (tree + 1) % layout_->table_count;
    if (after == 0)
        key_count_ = put_distinct(postings_.entries(), memory);
    std::span keys(memory, key_count_), scratch(memory + room.size(), key_count_);
    Permutation permutation = layout_->permutation(tree), last = layout_->permutation(after);
    for (uint64_t& key : keys)
        key = permutation.apply(last.invert(key));
    auto pause = [] { CHECK_FOR_INTERRUPTS(); };
    uint64_t mask = layout_->masks[tree];
    if (is_block(mask) && is_block(layout_->masks[after]) &&
        bits_between(mask, layout_->masks[after]) == 0)
        // A radix sort is stable: within a prefix the keys keep the order that they came in.
        radix_sort(keys, scratch, pause, unsigned(kFingerprintBits - std::popcount(mask)));
    else
        sort_records(keys, scratch, pause);
    return keys;
}

void SortedRunCollector::write_postings() {
    if (postings_.count() == 0)
        return;
    postings_.sort();
    write_sorted_run(files_->file_to_write(0), postings_.entries());
    // From the last table to the first, as block_keys() asks for.
    for (int tree = layout_->table_count - 1; tree > 0; tree--)
        write_sorted_run(files_->file_to_write(tree), block_keys(tree));
    postings_.clear();
}

void SortedRunCollector::write_nulls() {
    if (nulls_.count() == 0)
        return;
    nulls_.sort();
    write_sorted_run(files_->file_to_write(null_tree(*layout_)), nulls_.entries());
    nulls_.clear();
}

} // namespace simhash
