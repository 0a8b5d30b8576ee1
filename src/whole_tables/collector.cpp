// Collects fingerprints and searches them for near pairs. See the header.
#include "whole_tables/collector.hpp"

#include "core/pairs/spilled_pairs.hpp"

namespace simhash {
namespace {

// Of a fingerprint and its place in the scratch of the sort.
constexpr size_t kBytesOfEach = 2 * sizeof(uint64_t);

// What core/pairs/spilled_pairs.hpp asks for.
struct Storage {
    using File = TemporaryFile;
    using Sort = ExternalSorter<uint64_t>;

    TemporaryFiles files{CurrentMemoryContext};

    static Sort sort(size_t bytes, unsigned low_bit) { return Sort(bytes, low_bit); }
    void append(File* file, const uint64_t* fingerprints, size_t count) {
        if (!file->exists())
            *file = files.create();
        file->append(fingerprints, count * sizeof(uint64_t));
    }
    static void read(const File& file, uint64_t at, uint64_t* fingerprints, size_t count) {
        file.read(int64(at * sizeof(uint64_t)), fingerprints, count * sizeof(uint64_t));
    }
    static uint64_t size(const File& file) { return uint64_t(file.size()) / sizeof(uint64_t); }
    static void remove(File* file) { file->close(); }
};

// Half of the memory is for the fingerprints that are searched, and half for sorts.
void find_pairs_by_files(Collector* a, Collector* b, int32 radius, const PairReceiver& receiver) {
    Storage storage;
    TemporaryFile files[] = {a->distinct_file(),
                             b == nullptr ? TemporaryFile() : b->distinct_file()};
    size_t room = a->most() / 2;
    FingerprintArray memory = {allocate_array<uint64_t>(server_memory(), room),
                               allocate_array<uint64_t>(server_memory(), room), room};
    if (files[0].exists() && (b == nullptr ? radius > 0 : files[1].exists()))
        SpilledPairsSearch(&storage, memory, b != nullptr, radius, receiver, kPause)
            .search(files, room * kBytesOfEach);
    pfree(memory.fingerprints);
    pfree(memory.scratch);
    for (TemporaryFile& file : files)
        file.close();
}

} // namespace

void check_radius(int32 radius, int greatest) {
    if (radius < 0 || radius > greatest)
        ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("radius is out of range"),
                errdetail("The radius is %d.", radius),
                errhint("Use a radius between 0 and %d.", greatest));
}

Collector::Collector(size_t bytes, const Collector* other)
    : most_(std::clamp(bytes / kBytesOfEach, 2 * kLeastSpilledMemory, kMaxNearPairsCount)),
      buffer_(kBytesOfEach * (most_ - (other == nullptr ? 0
                                                        : std::min(other->buffer_.count(),
                                                                   most_ - kLeastSpilledMemory)))),
      files_(CurrentMemoryContext) {}

void Collector::finish() {
    buffer_.drop_repeated();
    // A set must not be in files for one part and in memory for another.
    if (is_spilled())
        spill();
}

// A search of files needs the memory for itself.
TemporaryFile Collector::distinct_file() {
    Storage storage;
    TemporaryFile distinct;
    uint64_t kept[kLeastSpilledMemory];
    size_t count = 0;
    if (!is_spilled() || buffer_.count() > 0)
        spill();
    each([&](uint64_t fingerprint) {
        if (count == kLeastSpilledMemory)
            storage.append(&distinct, kept, std::exchange(count, 0));
        kept[count++] = fingerprint;
        return true;
    });
    if (count > 0)
        storage.append(&distinct, kept, count);
    runs_.close();
    return distinct;
}

void Collector::release() {
    buffer_.release();
    runs_.close();
}

void Collector::make_room() {
    buffer_.drop_repeated();
    // Where a quarter of the room is free again, the next sort is worth it.
    if (buffer_.count() >= buffer_.limit() / 4 * 3)
        spill();
}

// Moves the fingerprints in memory, which are sorted, to the file.
void Collector::spill() {
    if (!runs_.exists())
        runs_ = files_.create();
    write_sorted_run(&runs_, buffer_.entries());
    buffer_.clear();
}

void find_pairs(Collector* a, Collector* b, int32 radius, const PairReceiver& receiver) {
    if (a->is_spilled() || (b != nullptr && b->is_spilled()))
        find_pairs_by_files(a, b, radius, receiver);
    else if (b == nullptr)
        find_near_pairs(a->array(), radius, receiver, kPause);
    else
        find_pairs_between(a->array(), b->array(), radius, receiver, kPause);
    a->release();
    if (b != nullptr)
        b->release();
}

} // namespace simhash
