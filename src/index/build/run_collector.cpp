// Turns rows into sorted runs. See the header.
#include "index/build/run_collector.hpp"

#include <new>

namespace simhash {

namespace {

char* name_of_runs(int participant, int tree) { return psprintf("runs.%d.%d", participant, tree); }

} // namespace

TemporaryFile* SortedRunCollector::file_to_write(int tree) {
    // There is a file for each tree, so that each can be merged, and its file removed, alone.
    TemporaryFile* file = &files_[tree];
    if (!file->exists())
        *file = shared_ == nullptr
                    ? own_.create()
                    : TemporaryFile::create(shared_, name_of_runs(participant_, tree));
    return file;
}

TemporaryFile SortedRunCollector::open_file(SharedFileSet* shared, int participant, int tree) {
    return TemporaryFile::open(shared, name_of_runs(participant, tree));
}

SortedRunCollector::SortedRunCollector(const Layout* layout, size_t memory, SharedFileSet* shared,
                                       int participant)
    : layout_(layout), shared_(shared), participant_(participant) {
    int lanes = lane_count();
    buffers_ = static_cast<SortBuffer<Entry>*>(palloc(size_t(lanes + 1) * sizeof(*buffers_)));
    for (int lane = 0; lane <= lanes; lane++)
        // Equal parts make the buffers of all lanes full at the same row.
        new (&buffers_[lane])
            SortBuffer<Entry>(lane == lanes ? memory / 8 : memory / 8 * 7 / size_t(lanes));
}

void SortedRunCollector::finish(bool write_all) {
    for (int lane = 0; lane <= lane_count(); lane++) {
        // A tree is written from memory or from its file, not from both. All lanes have files or
        // none has; the null table may be in memory where they are in files.
        if (write_all || files_[first_tree(lane)].exists()) {
            write_runs(lane);
            buffers_[lane].release(); // the merge needs the memory
        } else {
            buffers_[lane].sort();
            entries_ += buffers_[lane].count() * size_t(last_tree(lane) - first_tree(lane) + 1);
        }
    }
}

void SortedRunCollector::release() {
    for (int lane = 0; lane <= lane_count(); lane++)
        buffers_[lane].release();
    for (TemporaryFile& file : files_)
        file.close();
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
    SortBuffer<Entry>& postings = buffer_of(tree);
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
    // A radix sort is stable: within a prefix the keys keep the order that they came in. The prefix
    // stands in the highest bits of a permuted key.
    radix_sort(keys, scratch, kPause, unsigned(kFingerprintBits - layout_->prefix_bits(table)));
    return keys;
}

// Writes what a buffer holds, a run for each of its trees.
void SortedRunCollector::write_runs(int lane) {
    SortBuffer<Entry>& buffer = buffers_[lane];
    if (buffer.count() == 0)
        return;
    int first = first_tree(lane);
    buffer.sort();
    write_sorted_run(file_to_write(first), buffer.entries());
    entries_ += buffer.count();
    // From the last table to the first, as block_keys() asks for.
    for (int tree = last_tree(lane); tree > first; tree--) {
        std::span<const uint64_t> keys = block_keys(tree);
        write_sorted_run(file_to_write(tree), keys);
        entries_ += keys.size();
    }
    buffer.clear();
}

} // namespace simhash
