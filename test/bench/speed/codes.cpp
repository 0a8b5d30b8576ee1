// Codes of 64 to 1024 bits for the speed bench, each made from its number alone, so that every run
// has the same data. Bit 0 is a code's first.
//
//   codes rows KIND BITS FIRST LAST         lines `id <tab> code` for COPY
//   codes bytes KIND BITS FIRST LAST        the codes as bytes, one after the other
//   codes queries KIND BITS ROWS RADIUS N   lines `n <tab> id <tab> code`: the code of that row with
//                                           n mod (RADIUS + 1) of its bits inverted
//   codes query-bytes KIND BITS ROWS RADIUS N
//   codes found KIND BITS ROWS RADIUS N     lines `n <tab> id`: the rows within RADIUS of each query,
//                                           by comparing each row with each query
//
//   random     word i of a code is murmur2(16 id + i, 42)
//   clustered  70 % random; 30 % (ids that end in 7, 8, 9) with up to 5/32 of the bits of an earlier
//              one inverted: 40 of 256
//   pdq        each code is near one of 120 themes, at a distance of 12 to 50 % of its bits, most of
//              them near the least; 30 % near an earlier one
//   dhash      the same with 8 themes
//
// Themes stand for what hashes of different pictures have in common. Their number was chosen for
// the pairs of 3 800 pictures' hashes of 256 bits (`make pictures`, and pictures of openclipart):
//
//                             standard deviation   a word of 64 bits   a block of 16 bits
//                                of the distance     within 7, 1/10^6     within 1, 1/10^6
//   PDQ                                      8.8                   49                  319
//   pdq                                      8.8                   52                  421
//   difference hash, 16 x 16                16.2                1 010                2 428
//   dhash                                   16.1                  781                2 682

#include "murmur2.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <thread>
#include <vector>

namespace {

constexpr uint64_t kSeed = 42; // also in wide.py
constexpr int kMostWords = 16;

struct Code {
    uint64_t words[kMostWords] = {}; // bit 0 is the highest of the first

    void invert(int bit) { words[bit / 64] ^= uint64_t{1} << (63 - bit % 64); }
    bool bit(int bit) const { return words[bit / 64] >> (63 - bit % 64) & 1; }
};

struct Kind {
    int bits;
    bool clustered;
    uint64_t themes; // 0: none, every bit by chance
};

int word_count(const Kind& kind) { return (kind.bits + 63) / 64; }

Code random_code(const Kind& kind, uint64_t id) {
    Code code;
    for (int i = 0; i < word_count(kind); i++)
        code.words[i] = murmur2(kMostWords * id + static_cast<uint64_t>(i), kSeed);
    if (kind.bits % 64 != 0)
        code.words[kind.bits / 64] &= ~(~uint64_t{0} >> (kind.bits % 64));
    return code;
}

// Four bits are drawn from each random number.
Code themed_code(const Kind& kind, uint64_t id) {
    const uint64_t theme = murmur2(id, kSeed + 6) % kind.themes;
    Code code = random_code(kind, ~theme);
    const double chance = static_cast<double>(murmur2(id, kSeed + 7)) / 0x1p64;
    const auto inverted = static_cast<uint64_t>((.12 + .38 * chance * chance) * 0x10000);
    uint64_t random = 0;
    for (int bit = 0; bit < kind.bits; bit++, random >>= 16) {
        if (bit % 4 == 0)
            random = murmur2(kMostWords * kMostWords * id + static_cast<uint64_t>(bit / 4), kSeed);
        if (random % 0x10000 < inverted)
            code.invert(bit);
    }
    return code;
}

Code base_code(const Kind& kind, uint64_t id) {
    return kind.themes > 0 ? themed_code(kind, id) : random_code(kind, id);
}

void invert_some(const Kind& kind, Code* code, int count, uint64_t random) {
    Code inverted;
    while (count > 0) {
        random = murmur2(random, kSeed + 2);
        const int bit = static_cast<int>(random % static_cast<uint64_t>(kind.bits));
        if (inverted.bit(bit))
            continue;
        inverted.invert(bit);
        code->invert(bit);
        count--;
    }
}

Code code_of(const Kind& kind, uint64_t id) {
    if (!kind.clustered || id % 10 < 7)
        return base_code(kind, id);
    uint64_t earlier = murmur2(id, kSeed + 3) % id;
    if (earlier % 10 >= 7)
        earlier -= 3;
    if (earlier == 0)
        earlier = 1;
    Code code = base_code(kind, earlier);
    const uint64_t random = murmur2(id, kSeed + 1);
    const int most = kind.bits * 5 / 32;
    invert_some(kind, &code, static_cast<int>(random % static_cast<uint64_t>(most + 1)), random);
    return code;
}

struct Query {
    uint64_t id;
    Code code;
};

Query query(const Kind& kind, uint64_t rows, int radius, uint64_t n) {
    Query made{1 + murmur2(n, kSeed + 4) % rows, {}};
    made.code = code_of(kind, made.id);
    const auto inverted = static_cast<int>(n % static_cast<uint64_t>(radius + 1));
    invert_some(kind, &made.code, inverted, murmur2(n, kSeed + 5));
    return made;
}

void print_bytes(const Kind& kind, const Code& code) {
    for (int byte = 0; byte < kind.bits / 8; byte++)
        std::putchar(static_cast<int>(code.words[byte / 8] >> (56 - byte % 8 * 8) & 255));
}

void print_code(const Kind& kind, const Code& code) {
    char digits[kMostWords * 64 + 2];
    for (int bit = 0; bit < kind.bits; bit++)
        digits[bit] = code.bit(bit) ? '1' : '0';
    digits[kind.bits] = '\n';
    std::fwrite(digits, 1, static_cast<size_t>(kind.bits) + 1, stdout);
}

// ---- every row beside every query ----

struct Found {
    uint64_t n, id;
};

// The queries' words, one query after the other, kWords each.
template <int kWords>
void compare(const std::vector<uint64_t>& queries, const Code& code, uint64_t id, int radius,
             std::vector<Found>* found) {
    const size_t count = queries.size() / kWords;
    for (size_t n = 0; n < count; n++) {
        int distance = 0;
        for (size_t i = 0; i < kWords; i++)
            distance += std::popcount(queries[n * kWords + i] ^ code.words[i]);
        if (distance <= radius)
            found->push_back({n + 1, id});
    }
}

template <int kWords>
void print_found(const Kind& kind, uint64_t rows, int radius, uint64_t count) {
    std::vector<uint64_t> queries;
    for (uint64_t n = 1; n <= count; n++) {
        const Code code = query(kind, rows, radius, n).code;
        queries.insert(queries.end(), code.words, code.words + kWords);
    }
    const unsigned parts = std::max(1U, std::thread::hardware_concurrency());
    std::vector<std::vector<Found>> found(parts);
    std::vector<std::thread> threads;
    for (unsigned part = 0; part < parts; part++)
        threads.emplace_back([&, part] {
            for (uint64_t id = part + 1; id <= rows; id += parts)
                compare<kWords>(queries, code_of(kind, id), id, radius, &found[part]);
        });
    for (std::thread& thread : threads)
        thread.join();
    for (const std::vector<Found>& part : found)
        for (const Found& one : part)
            std::printf("%llu\t%llu\n", static_cast<unsigned long long>(one.n),
                        static_cast<unsigned long long>(one.id));
}

// ---- the command line ----

void print_rows(const Kind& kind, uint64_t first, uint64_t last, bool bytes) {
    for (uint64_t id = first; id <= last; id++) {
        if (bytes) {
            print_bytes(kind, code_of(kind, id));
            continue;
        }
        std::printf("%llu\t", static_cast<unsigned long long>(id));
        print_code(kind, code_of(kind, id));
    }
}

void print_queries(const Kind& kind, uint64_t rows, int radius, uint64_t count, bool bytes) {
    for (uint64_t n = 1; n <= count; n++) {
        const Query made = query(kind, rows, radius, n);
        if (bytes) {
            print_bytes(kind, made.code);
            continue;
        }
        std::printf("%llu\t%llu\t", static_cast<unsigned long long>(n),
                    static_cast<unsigned long long>(made.id));
        print_code(kind, made.code);
    }
}

Kind kind_of(std::string_view name, int bits) {
    const uint64_t themes = name == "pdq" ? 120 : name == "dhash" ? 8 : 0;
    return {bits, name != "random", themes};
}

uint64_t number(const char* word) { return std::strtoull(word, nullptr, 10); }

} // namespace

int main(int count, char** arguments) {
    const std::string_view form = count > 1 ? arguments[1] : "";
    const bool of_queries = form == "queries" || form == "query-bytes" || form == "found";
    if (count != (of_queries ? 7 : 6)) {
        std::fprintf(stderr,
                     "usage: %s rows|bytes KIND BITS FIRST LAST, or\n"
                     "       %s queries|query-bytes|found KIND BITS ROWS RADIUS COUNT\n",
                     arguments[0], arguments[0]);
        return 2;
    }
    const Kind kind = kind_of(arguments[2], std::atoi(arguments[3]));
    const uint64_t first = number(arguments[4]);
    if (!of_queries)
        print_rows(kind, first, number(arguments[5]), form == "bytes");
    else if (form == "found")
        (word_count(kind) <= 2 ? print_found<2>
         : word_count(kind) <= 4
             ? print_found<4>
             : print_found<kMostWords>)(kind, first, std::atoi(arguments[5]), number(arguments[6]));
    else
        print_queries(kind, first, std::atoi(arguments[5]), number(arguments[6]),
                      form == "query-bytes");
    return std::ferror(stdout) || std::fclose(stdout) ? 1 : 0;
}
