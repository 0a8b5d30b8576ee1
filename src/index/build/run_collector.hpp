// Turns the rows that a build reads into sorted runs for each tree. The runs stay in memory if it
// holds all of them, and go to temporary files otherwise. In the files of the build, a run is
// always a sorted run.
#pragma once

#include "core/layout/lane_radii.hpp"
#include "index/store/tree.hpp"
#include "server/sorter.hpp"

namespace simhash {

// Takes the rows that one participant reads. Whenever its memory is full, it writes a run for each
// tree: for each lane it sorts the postings, and makes the keys of each block table from them.
class SortedRunCollector {
  public:
    // `memory`, in bytes, is for all lanes, and an eighth of it for the rows without lanes. Other
    // participants can read the files of a shared set once they are closed.
    SortedRunCollector(const Layout* layout, size_t memory, SharedFileSet* shared = nullptr,
                       int participant = 0);

    int lane_count() const { return layout_->lane_count; }

    // Adds a row's postings, or the row to the null table if it has no fingerprint.
    void add(std::span<const uint64_t> fingerprints, uint64_t tid) {
        rows_++;
        if (fingerprints.empty())
            add_to(lane_count(), {0, tid});
        // Where their number varies all lanes are in one tree. Otherwise each lane has as many
        // postings, so a row that finds the buffer of one full finds them all full.
        for (size_t i = 0; i < fingerprints.size(); i++)
            add_to(layout_->lanes_vary ? 0 : int(i), {fingerprints[i], tid});
    }

    // Rows without lanes count, too.
    uint64_t rows() const { return rows_; }
    // Ends the input: sorts the entries in memory. Also writes them to files if `write_all` is set
    // or if earlier runs of the tree were written.
    void finish(bool write_all);
    // After finish(): the entries of the runs in files, and for those in memory as many for each
    // tree as there are postings.
    uint64_t entries() const { return entries_; }
    // After finish(): the postings of a posting table or the null table that were not written.
    std::span<const Entry> postings(int tree) const { return buffer_of(tree).entries(); }
    // After finish(): the keys of a block table, in order, if they were not written. Must be called
    // from the last table of a lane to its first: each call makes its keys in place from those of
    // the last call, which are gone then.
    std::span<const uint64_t> block_keys(int tree);
    // Returns the tree's file. It does not exist() if nothing was written.
    TemporaryFile& file(int tree) { return files_[tree]; }
    // Opens a participant's file of a tree. It does not exist() if the participant wrote none.
    static TemporaryFile open_file(SharedFileSet* shared, int participant, int tree);
    // Releases the memory and closes the files.
    void release();

  private:
    void add_to(int lane, Entry entry) {
        if (buffers_[lane].is_full())
            write_runs(lane);
        buffers_[lane].add(entry);
    }
    // The trees of a lane are numbered one after another, and the null table comes last: as if it
    // were one more lane, whose buffer holds the rows without lanes.
    SortBuffer<Entry>& buffer_of(int tree) const { return buffers_[tree / layout_->table_count]; }
    int first_tree(int lane) const { return tree_of_table(*layout_, lane, 0); }
    int last_tree(int lane) const {
        return std::min(first_tree(lane + 1), tree_count(*layout_)) - 1;
    }
    TemporaryFile* file_to_write(int tree);
    void write_runs(int lane);

    const Layout* layout_;
    SharedFileSet* shared_;
    int participant_;
    TemporaryFiles own_{CurrentMemoryContext};
    TemporaryFile files_[kMaxTrees]; // each made when it is needed
    SortBuffer<Entry>* buffers_;     // [lane_count() + 1]
    size_t key_count_ = 0;           // of the last block_keys()
    uint64_t rows_ = 0, entries_ = 0;
};

} // namespace simhash
