// Collects fingerprints and searches them for near pairs. See the header.
#include "tables/collector.hpp"

#include "core/pairs/fingerprint_array.hpp"
#include "server/temporary_file.hpp"

namespace simhash {
namespace {

// ---- temporary files, for core/pairs/spilled_pairs.hpp ----

struct Files {
    MemoryContext context;
    TemporaryFiles files;
};

struct OpenFile {
    TemporaryFile file;
    int64 position; // of the next fingerprint that is read
};

OpenFile* open_file(void* file) { return static_cast<OpenFile*>(file); }

void* create_file(void* context) {
    auto* files = static_cast<Files*>(context);
    auto* file = static_cast<OpenFile*>(MemoryContextAlloc(files->context, sizeof(OpenFile)));
    *file = {files->files.create(), 0};
    return file;
}

void write_file(void* file, const uint64_t* fingerprints, size_t count) {
    open_file(file)->file.append(fingerprints, count * sizeof(uint64_t));
}

void rewind_file(void* file) { open_file(file)->position = 0; }

void read_file(void* file, uint64_t* fingerprints, size_t count) {
    size_t bytes = count * sizeof(uint64_t);
    CHECK_FOR_INTERRUPTS();
    open_file(file)->file.read(open_file(file)->position, fingerprints, bytes);
    open_file(file)->position += int64(bytes);
}

void remove_file(void* file) {
    open_file(file)->file.close();
    pfree(file);
}

// Files that live as long as the memory context, unless they are removed before. The functions
// raise the server's errors: of a full disk, of temp_file_limit, of a file that cannot be read.
FingerprintFiles fingerprint_files(MemoryContext context) {
    auto* files = static_cast<Files*>(MemoryContextAlloc(context, sizeof(Files)));
    *files = {context, TemporaryFiles(context)};
    return {files, create_file, write_file, rewind_file, read_file, remove_file};
}

// ---- the set ----

// The most fingerprints that a search holds in this memory, where each takes bytes_of_each.
size_t searched_within(size_t bytes, size_t bytes_of_each) {
    return std::clamp(bytes / bytes_of_each, kLeastSpilledMemory, kMaxNearPairsCount);
}

// Two sets fit if the sum of both is within the limit of one search.
bool fit_into_memory(const Collector& a, const Collector* b) {
    return !a.is_spilled() &&
           (b == nullptr || (!b->is_spilled() && a.count() + b->count() <= a.most_searched()));
}

void find_pairs_by_files(SpilledSet* a, SpilledSet* b, size_t room, int32 radius,
                         const PairReceiver& receiver) {
    // Both sets are in files now, so this is all that the search holds of them.
    FingerprintArray memory = {allocate<uint64_t>(CurrentMemoryContext, room),
                               allocate<uint64_t>(CurrentMemoryContext, room), room};
    find_spilled_pairs(a, b, memory, radius, receiver, kPause);
    pfree(memory.fingerprints);
    pfree(memory.scratch);
}

} // namespace

void check_radius(int32 radius, int greatest) {
    if (radius < 0 || radius > greatest)
        ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("radius is out of range"),
                errdetail("The radius is %d.", radius),
                errhint("Use a radius between 0 and %d.", greatest));
}

Collector::Collector(MemoryContext context)
    : context_(context), memory_(get_hash_memory_limit()), most_(memory_ / kBytesOfSearch),
      most_searched_(searched_within(memory_, kBytesPerFingerprint)) {}

Collector Collector::within(MemoryContext context, size_t bytes, const Collector* other) {
    Collector collector(context);
    collector.memory_ = bytes;
    // The results are elsewhere, so a fingerprint takes 16 bytes here, not 40.
    size_t most = searched_within(bytes, kBytesOfSearch);
    size_t taken = other == nullptr ? 0 : std::min(other->capacity_, most - kLeastSpilledMemory);
    collector.most_searched_ = most;
    collector.most_ = most - taken;
    return collector;
}

void Collector::finish() {
    drop_repeated();
    // To collect a fingerprint takes 16 bytes, and to search it 40 with its results. So a set that
    // was collected in memory may yet be too large to be searched there. And a set must not be in
    // files for one part and in memory for another.
    if (is_spilled() || count_ > most_searched_)
        spill();
    resize(count_);
}

// A search of files needs the memory for itself, so the array is released.
SpilledSet* Collector::files() {
    spill();
    release_memory();
    return spilled_;
}

void Collector::release() {
    release_memory();
    if (spilled_ != nullptr)
        spilled_->release();
    spilled_ = nullptr;
}

void Collector::release_memory() {
    if (capacity_ > 0) {
        pfree(fingerprints_);
        pfree(scratch_);
    }
    fingerprints_ = scratch_ = nullptr;
    capacity_ = count_ = 0;
}

void Collector::resize(size_t capacity) {
    if (capacity == 0)
        return release_memory();
    fingerprints_ = resized(context_, fingerprints_, capacity);
    scratch_ = resized(context_, scratch_, capacity);
    capacity_ = capacity;
}

void Collector::drop_repeated() {
    count_ = sort_distinct({fingerprints_, count_}, {scratch_, count_}, kPause);
}

void Collector::make_room() {
    drop_repeated();
    // A quarter of the room was repeated fingerprints: the next sort is worth it again.
    if (count_ < capacity_ / 4 * 3)
        return;
    // An aggregate may have a million groups of a few rows each: then each group's set is small.
    constexpr size_t kFirstCapacity = 16;
    // A large array is sorted a few times only. Of its room, what is not used is not touched.
    constexpr size_t kLarge = 4096;
    if (capacity_ < most_)
        resize(std::clamp((capacity_ < kLarge ? 2 : 4) * capacity_, kFirstCapacity, most_));
    else
        spill();
}

// Moves the fingerprints of the array to files.
void Collector::spill() {
    if (spilled_ == nullptr) {
        spilled_ = allocate<SpilledSet>(context_, 1);
        *spilled_ = SpilledSet(fingerprint_files(context_));
    }
    spilled_->add(array(), kPause);
    count_ = 0;
}

void find_pairs(Collector* a, Collector* b, int32 radius, const PairReceiver& receiver) {
    if (!fit_into_memory(*a, b))
        find_pairs_by_files(a->files(), b == nullptr ? nullptr : b->files(), a->most_searched(),
                            radius, receiver);
    else if (b == nullptr)
        find_near_pairs(a->array(), radius, receiver, kPause);
    else
        find_pairs_between(a->array(), b->array(), radius, receiver, kPause);
    a->release();
    if (b != nullptr)
        b->release();
}

size_t memory_beside(const Collector& set) {
    size_t count = std::min(set.count(), set.most_searched());
    Assert(count * kBytesOfSearch < set.memory());
    return set.memory() - count * kBytesOfSearch;
}

} // namespace simhash
