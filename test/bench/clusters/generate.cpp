// Fingerprints for measurements: 70 % random, 30 % within 0..4 bits of an earlier one. Writes
// `count` of them, one signed decimal a line, the same for the same seed on every machine.
//
//   generate COUNT [SEED] | psql -c 'COPY fingerprints FROM stdin'
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "../../unit/random.hpp"

int main(int argc, char** argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: generate COUNT [SEED]\n");
        return 1;
    }
    size_t count = strtoull(argv[1], nullptr, 10);
    simhash::test::Random random(argc > 2 ? strtoull(argv[2], nullptr, 10) : 1);
    std::vector<uint64_t> fingerprints;
    fingerprints.reserve(count);
    while (fingerprints.size() < count) {
        uint64_t fingerprint = random.next();
        if (!fingerprints.empty() && random.below(10) < 3) {
            uint64_t earlier = fingerprints[random.below(fingerprints.size())];
            fingerprint = earlier ^ random.with_ones(static_cast<int>(random.below(5)));
        }
        fingerprints.push_back(fingerprint);
        printf("%" PRId64 "\n", static_cast<int64_t>(fingerprint));
    }
}
