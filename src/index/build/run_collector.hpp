// The entries of an index that is being built, on their way from the table to its trees: as sorted
// runs, of each tree its own. They stay in memory where the memory holds all of them, and else go
// to temporary files. In the build's files a run is always such a sorted run.
#pragma once

#include "index/store/tree.hpp"
#include "spill/sorter.hpp"

namespace simhash {

constexpr int kMaxTrees = kMaxTables + 1;

// The name of a file that participants share.
struct SharedFileName {
    SharedFileName(const char* what, int first, int second);

    char text[32];
};

// What one participant's runs are written to: a file for each tree, made when it is needed.
class SortedRunFiles {
  public:
    // Files of this backend alone.
    SortedRunFiles() = default;
    // Files that other participants read once they are closed.
    SortedRunFiles(SharedFileSet* shared, int participant)
        : shared_(shared), participant_(participant) {}

    // The tree's file, to be written.
    TemporaryFile* file_to_write(int tree);
    // The tree's file, which does not exist where nothing was written.
    const TemporaryFile& file(int tree) const { return files_[tree]; }
    void close(int tree) { files_[tree].close(); }
    void close();
    // A participant's file of a tree, which does not exist where it wrote none.
    static TemporaryFile open(SharedFileSet* shared, int participant, int tree);

  private:
    SharedFileSet* shared_ = nullptr;
    int participant_ = 0;
    TemporaryFile files_[kMaxTrees];
};

// Takes the rows that one participant reads. Whenever the memory is full, its postings are sorted,
// and from them their fingerprints once for each block table: a run for each tree.
class SortedRunCollector {
  public:
    SortedRunCollector(const Layout* layout, size_t memory, SortedRunFiles* files)
        : layout_(layout), files_(files), postings_(memory / 8 * 7), nulls_(memory / 8) {}

    void add(uint64_t fingerprint, uint64_t tid) {
        if (postings_.is_full())
            write_postings();
        postings_.add({fingerprint, tid});
        rows_++;
    }

    void add_null(uint64_t tid) {
        if (nulls_.is_full())
            write_nulls();
        nulls_.add({0, tid});
        rows_++;
    }

    uint64_t rows() const { return rows_; }
    // Ends the input. What is in memory is sorted, and also written where other runs were, or
    // where all is to be.
    void finish(bool write_all);
    // After finish(), what was not written: the postings of the posting table or the null table ...
    std::span<const Entry> postings(int tree) const {
        return tree == 0 ? postings_.entries() : nulls_.entries();
    }
    // ... and the keys of a block table, in memory that is used again for the next table's. To be
    // asked for from the last table to the first.
    std::span<const uint64_t> block_keys(int tree);
    void release() {
        postings_.release();
        nulls_.release();
    }

  private:
    void write_postings();
    void write_nulls();

    const Layout* layout_;
    SortedRunFiles* files_;
    SortBuffer<Entry> postings_, nulls_;
    size_t key_count_ = 0; // of the last block_keys()
    uint64_t rows_ = 0;
};

} // namespace simhash
