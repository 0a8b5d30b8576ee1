// libFuzzer: any bytes as a leaf's body. The first byte chooses the kind; what LeafReader opens it
// must read without leaving the body, and what it decodes must encode again.
#include "core/leaf/codec.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <memory>

using namespace simhash;

namespace {

void require(bool condition) {
    if (!condition)
        abort();
}

// All forms of the search find the same, whatever the content.
void search(const LeafReader& reader, uint64_t low, uint64_t high, uint64_t target, int radius) {
    static LeafReader::Hit expected[LeafReader::kHitRoom], found[LeafReader::kHitRoom];
    for (const Slices& slices : {Slices{}, Slices{target, 3, 6}}) {
        int count =
            reader.keys_within(low, high, target, radius, expected, slices, SimdLevel::kPortable);
        for (int level = int(SimdLevel::kPortable) + 1; level < kSimdLevels; level++) {
            require(reader.keys_within(low, high, target, radius, found, slices,
                                       SimdLevel(level)) == count);
            for (int i = 0; i < count; i++)
                require(found[i].key == expected[i].key && found[i].place == expected[i].place);
        }
    }
}

void read_all(const LeafReader& reader, LeafKind kind) {
    static Entry packed[kMaxLeafEntries], all[kMaxLeafEntries];
    int packed_count = reader.decode_packed(packed);
    require(packed_count <= reader.packed_count());
    reader.ranks_agree();
    int count = reader.decode_sorted(all);
    require(count == packed_count + reader.tail_count());
    for (uint64_t key : {uint64_t{0}, reader.header().first_key, UINT64_MAX / 3, UINT64_MAX}) {
        reader.contains_key(key);
        int seen = 0;
        reader.visit_packed(key, UINT64_MAX, [&](uint64_t at, int) {
            require(at >= key);
            seen++;
        });
        require(seen <= reader.packed_count());
    }
    uint64_t middle = packed_count > 0 ? packed[packed_count / 2].key : 0;
    for (int radius : {-1, 0, 3, 12, 14, 15, 64}) {
        search(reader, 0, UINT64_MAX, middle ^ 5, radius);
        search(reader, reader.header().first_key, middle | 0xffff, middle, radius);
        search(reader, middle, middle ^ (middle >> 20), ~middle, radius);
    }
    static uint8_t page[1 << 16];
    size_t bytes = encode_packed(kind, packed, packed_count, page, 8120);
    if (bytes == 0) // too large, or out of order
        return;
    LeafReader again;
    require(again.open(page, bytes, kind) && again.decode_packed(all) == packed_count &&
            again.ranks_agree());
    for (int i = 0; i < packed_count; i++)
        require(all[i] == packed[i]);
    for (int i = 0; i < packed_count; i += 1 + packed_count / 8) {
        uint64_t key = packed[i].key, low = key - std::min(key, key >> 9), high = key | key >> 9;
        require(again.contains_key(key));
        for (int radius : {3, 14, 15}) {
            static LeafReader::Hit hits[LeafReader::kHitRoom];
            int count = again.keys_within(low, high, key ^ 5, radius, hits), next = 0;
            for (int j = 0; j < packed_count; j++)
                if (low <= packed[j].key && packed[j].key <= high &&
                    std::popcount(packed[j].key ^ key ^ 5) <= radius)
                    require(next < count && hits[next++].place == j);
            require(next == count);
            search(again, low, high, key ^ 5, radius);
        }
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size < 1)
        return 0;
    LeafKind kind = data[0] & 1 ? LeafKind::kPosting : LeafKind::kBlock;
    // A copy of exactly this size: the sanitizer sees any byte read beyond it.
    std::unique_ptr<uint8_t[]> body(new uint8_t[size - 1]);
    memcpy(body.get(), data + 1, size - 1);
    LeafReader reader;
    if (reader.open(body.get(), size - 1, kind))
        read_all(reader, kind);
    return 0;
}

// Most random bytes are no leaf. Half of the inputs are made from a real one, changed a little.
extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
    if (max_size < 4096 || seed % 4 != 0)
        return LLVMFuzzerMutate(data, size, max_size);
    srand(seed);
    LeafKind kind = seed & 16 ? LeafKind::kPosting : LeafKind::kBlock;
    Entry entries[300];
    int count = 1 + rand() % 300;
    // Of up to 53 bits, so that the greatest key does not wrap, and many low parts have suffixes.
    unsigned shift = 9 + rand() % 52;
    auto gap = [&] { return (uint64_t(rand()) << 31 | uint64_t(rand())) >> shift; };
    for (int i = 0; i < count; i++)
        entries[i] = {(i == 0 ? uint64_t(rand()) : entries[i - 1].key) + gap(),
                      kind == LeafKind::kBlock ? 0 : (uint64_t(rand()) << 16 | (1 + rand() % 200))};
    for (int i = 1; i < count; i++)
        if (entries[i] <= entries[i - 1])
            entries[i] = {entries[i - 1].key + 1, entries[i].tid};
    data[0] = kind == LeafKind::kPosting;
    size_t bytes = 1 + encode_packed(kind, entries, count, data + 1, 3500);
    for (int i = rand() % 8; i > 0 && bytes > 1; i--)
        bytes += encode_tail_entry(kind, entries[rand() % count], data + bytes);
    for (int i = rand() % 6; i > 0; i--)
        data[1 + rand() % (rand() % 2 ? sizeof(PackedHeader) : bytes)] = uint8_t(rand());
    return bytes;
}
