// Fingerprints for the speed bench, as lines `id <tab> fp` for COPY: fingerprints KIND FIRST LAST
//
// Each line depends on its number alone, so that parts can be made beside each other and every run
// has the same data:
//
//   random     hash(id)
//   clustered  70 % random; 30 % (ids that end in 7, 8, 9) within 0..4 bits of an earlier one
//   hot        the same, with 1 % of the rows on one fingerprint
//
// hash() is murmur2(id, 42).

#include "murmur2.hpp"

#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr uint64_t kSeed = 42;
constexpr uint64_t kHot = 0x5bd1e9955bd1e995; // also in bench.py

// `word` with 0..4 of its bits inverted.
uint64_t near_copy(uint64_t word, uint64_t id) {
    uint64_t random = murmur2(id, kSeed + 1);
    uint64_t changed = 0;
    const int bits = static_cast<int>(random % 5);
    while (std::popcount(changed) < bits) {
        random = murmur2(random, kSeed + 2);
        changed |= uint64_t{1} << (random % 64);
    }
    return word ^ changed;
}

uint64_t clustered(uint64_t id) {
    if (id % 10 < 7)
        return murmur2(id, kSeed);
    uint64_t earlier = murmur2(id, kSeed + 3) % id;
    if (earlier % 10 >= 7)
        earlier -= 3;
    if (earlier == 0)
        earlier = 1;
    return near_copy(murmur2(earlier, kSeed), id);
}

uint64_t hot(uint64_t id) { return id % 100 == 50 ? kHot : clustered(id); }
uint64_t random_only(uint64_t id) { return murmur2(id, kSeed); }

} // namespace

int main(int count, char** arguments) {
    if (count != 4) {
        std::fprintf(stderr, "usage: %s random|clustered|hot FIRST LAST\n", arguments[0]);
        return 2;
    }
    auto make = !std::strcmp(arguments[1], "random") ? random_only
                : !std::strcmp(arguments[1], "hot")  ? hot
                                                     : clustered;
    const uint64_t first = std::strtoull(arguments[2], nullptr, 10);
    const uint64_t last = std::strtoull(arguments[3], nullptr, 10);
    for (uint64_t id = first; id <= last; id++)
        std::printf("%llu\t%lld\n", static_cast<unsigned long long>(id),
                    static_cast<long long>(make(id)));
    return std::ferror(stdout) || std::fclose(stdout) ? 1 : 0;
}
