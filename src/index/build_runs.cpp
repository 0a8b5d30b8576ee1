// The runs of an index that is being built; see the header.
#include "index/build_runs.hpp"

#include <bit>

#include "core/bits/permutation.hpp"

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

// The distinct fingerprints, permuted. In their own order, those of one prefix are in the order of
// keys already; so they are sorted by the prefix only.
std::span<const uint64_t> SortedRunCollector::block_keys(int tree) {
    Permutation permutation(layout_->masks[tree]);
    std::span<const KeyedValue> postings = postings_.entries();
    std::span<KeyedValue> room = postings_.scratch();
    static_assert(sizeof(KeyedValue) == 2 * sizeof(uint64_t));
    auto* keys = reinterpret_cast<uint64_t*>(room.data());
    size_t count = 0;
    for (size_t i = 0; i < postings.size(); i++)
        if (i == 0 || postings[i].key != postings[i - 1].key)
            keys[count++] = permutation.apply(postings[i].key);
    auto prefix_bits = unsigned(std::popcount(layout_->masks[tree]));
    radix_sort(
        std::span(keys, count), std::span(keys + room.size(), count),
        [] { CHECK_FOR_INTERRUPTS(); }, kFingerprintBits - prefix_bits);
    return {keys, count};
}

void SortedRunCollector::write_postings() {
    if (postings_.count() == 0)
        return;
    postings_.sort();
    write_sorted_run(files_->file_to_write(0), postings_.entries());
    for (int tree = 1; tree < layout_->table_count; tree++)
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
