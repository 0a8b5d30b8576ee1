#include "core/leaf/codec.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

#include "random.hpp"

using namespace simhash;

namespace {

constexpr size_t kBody = 8192;

struct Body {
    std::vector<uint8_t> bytes;
    size_t size = 0;

    bool encode(LeafKind kind, const std::vector<Entry>& entries) {
        // Exactly as large as the packed part, so that a sanitizer sees a read behind it.
        size_t need = bytes_when_packed(kind, entries.data(), int(entries.size()));
        bytes.assign(need, 0xee);
        size = encode_packed(kind, entries.data(), int(entries.size()), bytes.data(), need);
        return size == need;
    }
    void append(LeafKind kind, Entry entry) {
        bytes.resize(size + tail_entry_bytes(kind));
        size += encode_tail_entry(kind, entry, bytes.data() + size);
    }
};

std::vector<Entry> decode(const Body& body, LeafKind kind) {
    LeafReader reader;
    EXPECT_TRUE(reader.open(body.bytes.data(), body.size, kind));
    std::vector<Entry> out(kMaxLeafEntries);
    out.resize(reader.decode_sorted(out.data()));
    return out;
}

std::vector<Entry> sorted_unique(std::vector<Entry> v) {
    std::sort(v.begin(), v.end());
    v.erase(std::unique(v.begin(), v.end()), v.end());
    return v;
}

// Keys of many shapes; TIDs where the kind has them.
std::vector<std::vector<Entry>> samples(LeafKind kind) {
    std::mt19937_64 random(20240607);
    std::vector<std::vector<Entry>> all;
    auto add = [&](int n, auto key) {
        std::vector<Entry> v;
        for (int i = 0; i < n; i++) {
            uint64_t tid = (random() % 50000) << 16 | (1 + random() % 290);
            v.push_back({key(i), kind == LeafKind::kPosting ? tid : 0});
        }
        all.push_back(sorted_unique(v));
    };
    for (int n : {0, 1, 2, 3, 15, 16, 17, 31, 32, 33, 63, 64, 65, 500, 1100}) {
        add(n, [&](int) { return random(); });
        add(n, [&](int i) { return uint64_t(i); });
        add(n, [&](int i) { return UINT64_MAX - uint64_t(i); });
        add(n, [&](int) { return uint64_t{42}; });
        add(n, [&](int i) { return i == 0 ? UINT64_MAX : random() >> 40; });
        add(n, [&](int i) { return i == 0 ? 0 : UINT64_MAX - (random() >> 40); });
        add(n, [&](int) { return uint64_t{1} << (random() % 64); });
        add(n, [&](int) { return (random() % 4) << 62; });
        add(n, [&](int) { return 0xabcd000000000000 | random() >> 30; });
        // Low parts of 31, 32 and 33 bits, behind a first key whose suffix is near its greatest.
        for (int width : {31, 32, 33})
            add(n, [&](int i) {
                uint64_t range = uint64_t(n + 1) << width;
                return 0x123456fffffffff5 + (i == 0 ? 0 : random() % range);
            });
    }
    add(kMaxLeafEntries, [&](int i) { return uint64_t(i) * 3; });
    all.push_back({{0, kind == LeafKind::kPosting ? 0xffffffffffffu : 0}});
    return all;
}

} // namespace

TEST(LeafCodec, RoundTripsEveryShapeOfRun) {
    for (LeafKind kind : {LeafKind::kBlock, LeafKind::kPosting})
        for (const auto& entries : samples(kind)) {
            Body body;
            ASSERT_TRUE(body.encode(kind, entries));
            EXPECT_EQ(decode(body, kind), entries);
        }
}

// What is on disk must stay readable: the bytes of many leaves, as they have always been.
TEST(LeafCodec, WritesTheBytesThatItAlwaysWrote) {
    if (std::endian::native != std::endian::little)
        GTEST_SKIP() << "words are in the machine's byte order";
    simhash::test::Random random(20240607);
    uint64_t checksum = 0xcbf29ce484222325; // FNV-1a
    for (int round = 0; round < 2000; round++) {
        LeafKind kind = round % 2 == 0 ? LeafKind::kBlock : LeafKind::kPosting;
        uint64_t count = random.below(round % 10 == 0 ? 1200 : 120), width = 1 + random.below(63);
        uint64_t first = random.next() >> 1;
        std::vector<Entry> entries;
        for (uint64_t i = 0; i < count; i++) {
            uint64_t key = first + (random.next() >> (64 - width));
            uint64_t block = random.below(50000), offset = 1 + random.below(290);
            entries.push_back({key, kind == LeafKind::kPosting ? block << 16 | offset : 0});
        }
        entries = sorted_unique(entries);
        Body body;
        ASSERT_TRUE(body.encode(kind, entries));
        body.append(kind, {first, kind == LeafKind::kPosting ? 0xfedcba987654u : 0});
        for (uint8_t byte : body.bytes)
            checksum = (checksum ^ byte) * 0x100000001b3;
    }
    EXPECT_EQ(checksum, 2008149876818091430u);
}

TEST(LeafCodec, MergesTailAndRunInKeyOrder) {
    std::mt19937_64 random(7);
    for (LeafKind kind : {LeafKind::kBlock, LeafKind::kPosting})
        for (const auto& entries : samples(kind)) {
            std::vector<Entry> packed, tail;
            for (const Entry& e : entries)
                (random() % 8 == 0 && tail.size() < kMaxTailEntries ? tail : packed).push_back(e);
            Body body;
            ASSERT_TRUE(body.encode(kind, packed));
            std::shuffle(tail.begin(), tail.end(), random);
            for (const Entry& e : tail)
                body.append(kind, e);
            EXPECT_EQ(decode(body, kind), entries);
        }
}

TEST(LeafCodec, VisitsExactlyTheEntriesOfARange) {
    std::mt19937_64 random(8);
    for (const auto& entries : samples(LeafKind::kPosting)) {
        Body body;
        ASSERT_TRUE(body.encode(LeafKind::kPosting, entries));
        LeafReader reader;
        ASSERT_TRUE(reader.open(body.bytes.data(), body.size, LeafKind::kPosting));
        for (int round = 0; round < 60; round++) {
            uint64_t low = random(), high = random();
            if (!entries.empty() && round % 3 != 0) {
                low = entries[random() % entries.size()].key + random() % 3 - 1;
                high = round % 3 == 1 ? low
                                      : entries[random() % entries.size()].key + random() % 3 - 1;
            }
            std::vector<Entry> expected, seen;
            for (const Entry& e : entries)
                if (low <= e.key && e.key <= high)
                    expected.push_back(e);
            reader.visit_packed(low, high, [&](uint64_t key, int i) {
                seen.push_back({key, reader.packed_tid(i)});
            });
            ASSERT_EQ(seen, expected) << low << " " << high;
        }
        for (const Entry& e : entries) {
            EXPECT_TRUE(reader.contains_key(e.key));
        }
    }
}

TEST(LeafCodec, APartNeverEncodesLarger) {
    std::mt19937_64 random(9);
    for (LeafKind kind : {LeafKind::kBlock, LeafKind::kPosting})
        for (const auto& entries : samples(kind)) {
            size_t whole = bytes_when_packed(kind, entries.data(), int(entries.size()));
            for (int round = 0; round < 20; round++) {
                std::vector<Entry> part;
                uint64_t odds = 1 + random() % 9;
                for (const Entry& e : entries)
                    if (random() % 10 < odds)
                        part.push_back(e);
                EXPECT_LE(bytes_when_packed(kind, part.data(), int(part.size())), whole);
            }
        }
    // Where the widths with fewest bits differ, and would round to a word more.
    for (auto [n, range] :
         {std::pair{1834, 0xe5455555555}, {1642, 0x66a2aaaaaaaa}, {2027, 0xfd55555555}}) {
        std::vector<Entry> entries;
        for (int i = 0; i < n; i++)
            entries.push_back({uint64_t(i) * uint64_t(range) / uint64_t(n - 1), 0});
        size_t whole = bytes_when_packed(LeafKind::kBlock, entries.data(), n);
        entries.erase(entries.begin() + n / 2);
        EXPECT_LE(bytes_when_packed(LeafKind::kBlock, entries.data(), n - 1), whole);
    }
    // Of many small packed parts.
    for (int round = 0; round < 3000; round++) {
        std::vector<Entry> entries, part;
        uint64_t range = random() >> random() % 64;
        for (uint64_t n = 1 + random() % 60; n > 0; n--)
            entries.push_back({random() % std::max<uint64_t>(range, 1), 0});
        entries = sorted_unique(entries);
        for (const Entry& e : entries)
            if (random() % 8 != 0)
                part.push_back(e);
        EXPECT_LE(bytes_when_packed(LeafKind::kBlock, part.data(), int(part.size())),
                  bytes_when_packed(LeafKind::kBlock, entries.data(), int(entries.size())));
    }
}

TEST(LeafCodec, RunSizesAgreeWithTheEncoder) {
    for (LeafKind kind : {LeafKind::kBlock, LeafKind::kPosting})
        for (const auto& entries : samples(kind)) {
            PackedSizes sizes(kind, entries.data());
            // In an order that goes back and forth.
            for (int i = 0, size = int(entries.size()); i <= size; i += i % 5 == 0 ? 64 : 1)
                for (int count : {i, size - i, i / 2})
                    EXPECT_EQ(sizes.bytes(count), bytes_when_packed(kind, entries.data(), count));
        }
}

TEST(LeafCodec, RunSizesFindTheGreatestCountWithin) {
    for (LeafKind kind : {LeafKind::kBlock, LeafKind::kPosting})
        for (const auto& entries : samples(kind)) {
            int size = int(entries.size());
            PackedSizes sizes(kind, entries.data());
            for (size_t bytes : {size_t{40}, size_t{100}, size_t{3000}, size_t{7000}}) {
                int expected = 0;
                while (expected < size && sizes.bytes(expected + 1) <= bytes)
                    expected++;
                for (int guess : {0, expected / 2, expected, expected + 1, size, 5000})
                    EXPECT_EQ(sizes.most_within(bytes, size, guess), expected);
            }
        }
}

TEST(LeafCodec, RandomKeysTakeNextToTheTheoreticalMinimum) {
    std::mt19937_64 random(10);
    // As on a leaf of a table of 10 million: 1 100 keys in 1/9 000 of the space.
    std::vector<Entry> entries;
    for (int i = 0; i < 1100; i++)
        entries.push_back({random() / 9000, 0});
    entries = sorted_unique(entries);
    size_t bytes = bytes_when_packed(LeafKind::kBlock, entries.data(), int(entries.size()));
    EXPECT_LT(8.0 * double(bytes) / double(entries.size()), 43.5);
}

TEST(LeafCodec, DoesNotEncodeWhatDoesNotFit) {
    std::vector<Entry> entries;
    for (int i = 0; i < 100; i++)
        entries.push_back({uint64_t(i) << 50, 0});
    size_t need = bytes_when_packed(LeafKind::kBlock, entries.data(), 100);
    std::vector<uint8_t> out(need, 0x55);
    EXPECT_EQ(encode_packed(LeafKind::kBlock, entries.data(), 100, out.data(), need - 1), 0u);
    EXPECT_EQ(out[0], 0x55);
}

// As a damaged page may have them.
TEST(LeafCodec, DoesNotEncodeEntriesOutOfOrder) {
    const Entry entries[] = {{5, 1 << 16 | 1}, {3, 1 << 16 | 2}, {7, 1 << 16 | 3}};
    std::vector<uint8_t> out(kBody);
    for (LeafKind kind : {LeafKind::kBlock, LeafKind::kPosting})
        EXPECT_EQ(encode_packed(kind, entries, 3, out.data(), kBody), 0u);
}

TEST(LeafCodec, RefusesATailLongerThanAny) {
    for (LeafKind kind : {LeafKind::kBlock, LeafKind::kPosting}) {
        Body body;
        ASSERT_TRUE(body.encode(kind, {}));
        LeafReader reader;
        for (uint64_t i = 0; i < kMaxTailEntries; i++)
            body.append(kind, {i, 1 << 16 | 1});
        EXPECT_TRUE(reader.open(body.bytes.data(), body.size, kind));
        body.append(kind, {kMaxTailEntries, 1 << 16 | 1});
        EXPECT_FALSE(reader.open(body.bytes.data(), body.size, kind));
    }
}

TEST(LeafCodec, DamagedBytesNeverReadOutsideOrLoop) {
    std::mt19937_64 random(11);
    std::vector<Entry> out(kMaxLeafEntries);
    std::vector<LeafReader::Hit> hits(LeafReader::kHitRoom);
    int opened = 0;
    for (LeafKind kind : {LeafKind::kBlock, LeafKind::kPosting})
        for (const auto& entries : samples(kind)) {
            Body body;
            ASSERT_TRUE(body.encode(kind, entries));
            for (int round = 0; round < 200; round++) {
                std::vector<uint8_t> bytes = body.bytes;
                for (int flips = 1 + int(random() % 4); flips > 0; flips--)
                    bytes[random() % std::min<size_t>(bytes.size(), random() % 2
                                                                        ? sizeof(PackedHeader)
                                                                        : kBody)] ^=
                        uint8_t(1 << random() % 8);
                LeafReader reader;
                if (!reader.open(bytes.data(), bytes.size(), kind))
                    continue;
                opened++;
                EXPECT_LE(reader.decode_sorted(out.data()), kMaxLeafEntries);
                uint64_t low = random();
                reader.visit_packed(low, low + random() % 1000, [](uint64_t, int) {});
                reader.contains_key(low);
                reader.ranks_agree();
                for (int level = 0; level < kSimdLevels; level++)
                    for (uint8_t slice_bits : {0, 1, 9})
                        EXPECT_LE(reader.keys_within(low >> 1, UINT64_MAX, low, 3, hits.data(),
                                                     {low, 2, slice_bits}, SimdLevel(level)),
                                  reader.count());
            }
        }
    EXPECT_GT(opened, 1000);
}

TEST(LeafCodec, ReportsRanksThatAreNotThoseOfTheEntries) {
    std::mt19937_64 random(13);
    for (const auto& entries : samples(LeafKind::kBlock)) {
        Body body;
        ASSERT_TRUE(body.encode(LeafKind::kBlock, entries));
        LeafReader reader;
        ASSERT_TRUE(reader.open(body.bytes.data(), body.size, LeafKind::kBlock));
        EXPECT_TRUE(reader.ranks_agree());
        size_t rank = random() % (kUnarySections - 1);
        body.bytes[offsetof(PackedHeader, ranks) + rank * sizeof(uint16_t)] ^= 1;
        ASSERT_TRUE(reader.open(body.bytes.data(), body.size, LeafKind::kBlock));
        EXPECT_FALSE(reader.ranks_agree());
    }
}

TEST(LeafCodec, FindsOfACutRangeExactlyTheKeysInItsSlices) {
    std::mt19937_64 random(14);
    std::vector<LeafReader::Hit> hits(LeafReader::kHitRoom);
    int outside = 0;
    for (LeafKind kind : {LeafKind::kBlock, LeafKind::kPosting})
        for (const auto& entries : samples(kind)) {
            Body body;
            size_t packed_count = entries.size() - std::min<size_t>(entries.size() / 9, 100);
            ASSERT_TRUE(body.encode(kind, {entries.begin(), entries.begin() + long(packed_count)}));
            for (size_t i = packed_count; i < entries.size(); i++)
                body.append(kind, entries[i]);
            LeafReader reader;
            ASSERT_TRUE(reader.open(body.bytes.data(), body.size, kind));
            for (int round = 0; round < 40 && !entries.empty(); round++) {
                int radius = int(random() % 24), prefix_bits = int(random() % 20);
                uint64_t target = entries[random() % entries.size()].key ^
                                  uint64_t { 1 } << (round % 2 == 0 ? 0 : random() % 64);
                Slices slices = {target, uint8_t(prefix_bits), uint8_t(1 + random() % 12)};
                uint64_t prefix = leading_mask(prefix_bits), low = target & prefix,
                         high = target | ~prefix;
                std::vector<uint64_t> expected;
                for (const Entry& e : entries)
                    if (low <= e.key && e.key <= high && std::popcount(e.key ^ target) <= radius) {
                        uint64_t cut = (e.key ^ target) & leading_mask(prefix_bits + slices.bits);
                        if (std::popcount(cut) <= 1)
                            expected.push_back(e.key);
                        else
                            outside++;
                    }
                for (int level = 0; level < kSimdLevels; level++) {
                    int count = reader.keys_within(low, high, target, radius, hits.data(), slices,
                                                   SimdLevel(level));
                    std::vector<uint64_t> found;
                    for (int i = 0; i < count; i++)
                        found.push_back(hits[i].key);
                    std::sort(found.begin(), found.end());
                    ASSERT_EQ(found, expected) << "level " << level;
                }
            }
        }
    EXPECT_GT(outside, 1000);
}

// What keys_within() must find, at every level of SIMD.
void expect_keys_within(const LeafReader& reader, const std::vector<Entry>& entries, uint64_t low,
                        uint64_t high, uint64_t target, int radius) {
    std::vector<Entry> expected;
    for (const Entry& e : entries)
        if (low <= e.key && e.key <= high && std::popcount(e.key ^ target) <= radius)
            expected.push_back(e);
    std::vector<LeafReader::Hit> hits(LeafReader::kHitRoom);
    for (int level = 0; level < kSimdLevels; level++) {
        std::vector<Entry> found;
        int count =
            reader.keys_within(low, high, target, radius, hits.data(), {}, SimdLevel(level));
        for (int i = 0; i < count; i++)
            found.push_back({hits[i].key, reader.tid_at(hits[i].place)});
        std::sort(found.begin(), found.end());
        EXPECT_EQ(found, expected) << "level " << level << ", radius " << radius;
    }
}

TEST(LeafCodec, FindsExactlyTheKeysWithinARadius) {
    std::mt19937_64 random(12);
    for (const auto& entries : samples(LeafKind::kPosting)) {
        std::vector<Entry> packed, tail;
        for (const Entry& e : entries)
            (random() % 9 == 0 && tail.size() < kMaxTailEntries ? tail : packed).push_back(e);
        Body body;
        ASSERT_TRUE(body.encode(LeafKind::kPosting, packed));
        for (const Entry& e : tail)
            body.append(LeafKind::kPosting, e);
        LeafReader reader;
        ASSERT_TRUE(reader.open(body.bytes.data(), body.size, LeafKind::kPosting));
        for (int radius : {-1, 0, 3, 5, 6, 14, 15, 20, 32, 64}) {
            uint64_t target =
                entries.empty() ? 5 : entries[random() % entries.size()].key ^ (random() % 8);
            uint64_t low = random() % 2 ? 0 : target >> 1,
                     high = UINT64_MAX - (random() % 2 ? 0 : target >> 1);
            expect_keys_within(reader, entries, low, high, target, radius);
        }
    }
}

// The prefix of the range may differ from the target's: then the rest must be the nearer.
TEST(LeafCodec, FindsExactlyTheKeysWithinARadiusInTheRangeOfAPrefix) {
    std::mt19937_64 random(14);
    for (const auto& entries : samples(LeafKind::kPosting)) {
        if (entries.empty())
            continue;
        Body body;
        ASSERT_TRUE(body.encode(LeafKind::kPosting, entries));
        LeafReader reader;
        ASSERT_TRUE(reader.open(body.bytes.data(), body.size, LeafKind::kPosting));
        for (int prefix_bits : {1, 7, 16, 33, 60, 64})
            for (int flips = 4; flips < 24; flips++) {
                uint64_t key = entries[random() % entries.size()].key, target = key;
                for (int i = 0; i < flips; i++)
                    target ^= uint64_t{1} << random() % 64;
                uint64_t others = prefix_bits == 64 ? 0 : UINT64_MAX >> prefix_bits;
                int distance = std::popcount(key ^ target);
                for (int radius : {distance - 1, distance, distance + 2})
                    expect_keys_within(reader, entries, key & ~others, key | others, target,
                                       radius);
            }
    }
}
