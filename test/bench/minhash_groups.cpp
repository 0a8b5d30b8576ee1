// Groups of near-duplicates among the lines of a file, as tools outside the database find them
// (text-dedup, datasketch, rensa), for document_groups.sh:
//
//   minhash_groups THREADS SIMILARITY FILE
//
// MinHash in bands of each line's shingles of 3 words, 16 bands of 8 for a similarity of .8; lines
// that agree in a band are compared by their sets of shingles, and linked if they are so similar
// (union-find).
// Prints the number of each line, from 1, that is not the first of its group, and the first one's.
//
// As those tools it holds the hash of each band of each line; no signature and no text, which it
// reads from the mapped file, those of candidates once more.
#include <sys/mman.h>
#include <sys/stat.h>

#include <fcntl.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <string_view>

#include "core/bits/sort.hpp"
#include "core/text/feature_set.hpp"
#include "in_parallel.hpp"
#include "minhash.hpp"
#include "truth.hpp"

using namespace quality;

namespace {

double similarity;
Banding banding;
constexpr size_t kBlock = size_t{1} << 22; // bytes that a thread takes at once

struct Line {
    const char* text;
    Line* lesser = nullptr; // one of its group that comes before it, or null: the first
    uint32_t bytes;
    uint32_t number = 0; // among all

    explicit Line(std::string_view line) : text(line.data()), bytes(uint32_t(line.size())) {}
    Shingles shingles() const { return word_shingles(std::string_view(text, bytes)); }
};

// The lines that begin in it, and the hashes of all bands of the first, of the second...
struct Block {
    std::vector<Line> lines;
    std::vector<uint64_t> hashes;
};
using Candidates = std::vector<std::pair<Line*, Line*>>;

// Bands as long as can be, of which .94 of the pairs at the similarity itself agree in one.
Banding banding_at(double similarity) {
    for (int rows = kPermutations;; rows--) {
        const int bands = kPermutations / rows;
        if (rows == 1 || std::pow(1 - std::pow(similarity, rows), bands) <= 0.06)
            return {bands, rows};
    }
}

std::string_view mapped(const char* path) {
    const int file = open(path, O_RDONLY);
    struct stat status;
    if (file < 0 || fstat(file, &status) < 0) {
        perror(path);
        exit(1);
    }
    const size_t bytes = size_t(status.st_size);
    void* text = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file, 0);
    if (text == MAP_FAILED) {
        perror(path);
        exit(1);
    }
    return {static_cast<const char*>(text), bytes};
}

// From `at`, which is inside a line or begins one, to where the next line begins.
size_t next_line(std::string_view file, size_t at) {
    const size_t end = file.find('\n', at);
    return end == file.npos ? file.size() : end + 1;
}

void read_block(std::string_view file, size_t begin, Block& block) {
    const size_t end = std::min(begin + kBlock, file.size());
    const auto* bytes = file.data();
    // The kernel reads the next block meanwhile.
    if (end < file.size())
        madvise(const_cast<char*>(bytes) + end, std::min(kBlock, file.size() - end), MADV_WILLNEED);
    const size_t lines = size_t(std::count(bytes + begin, bytes + end, '\n')) + 1;
    block.lines.reserve(lines);
    block.hashes.reserve(lines * size_t(banding.bands));
    size_t at = begin == 0 ? 0 : next_line(file, begin - 1);
    for (size_t next; at < end; at = next) {
        next = next_line(file, at);
        const std::string_view line = file.substr(at, next - at - (file[next - 1] == '\n'));
        block.lines.emplace_back(line);
        const Signature minima = signature(line);
        for (int band = 0; band < banding.bands; band++)
            block.hashes.push_back(band_hash(minima, banding, band));
    }
}

std::vector<Block> read_lines(std::string_view file) {
    std::vector<Block> blocks((file.size() + kBlock - 1) / kBlock);
    in_parallel(blocks.size(), 1, [&](size_t i) { read_block(file, i * kBlock, blocks[i]); });
    uint32_t number = 0;
    for (Block& block : blocks)
        for (Line& line : block.lines)
            line.number = ++number;
    return blocks;
}

// Each pair that agrees in a band once, in the order of the file.
Candidates candidates(std::vector<Block>& blocks) {
    Candidates all;
    std::mutex adding;
    size_t lines = 0;
    for (const Block& block : blocks)
        lines += block.lines.size();
    in_parallel(size_t(banding.bands), 1, [&](size_t band) {
        std::vector<simhash::Pair> order;
        order.reserve(lines);
        for (Block& block : blocks)
            for (size_t i = 0; i < block.lines.size(); i++)
                order.push_back({block.hashes[i * size_t(banding.bands) + band],
                                 reinterpret_cast<uintptr_t>(&block.lines[i])});
        const auto scratch = std::make_unique_for_overwrite<simhash::Pair[]>(order.size());
        simhash::sort_records(std::span(order), std::span(scratch.get(), order.size()), [] {});
        Candidates found;
        for (size_t begin = 0, end = 0; begin < order.size(); begin = end)
            for (end = begin + 1; end < order.size() && order[end].first == order[begin].first;
                 end++)
                for (size_t i = begin; i < end; i++) {
                    auto* a = reinterpret_cast<Line*>(order[i].second);
                    auto* b = reinterpret_cast<Line*>(order[end].second);
                    found.push_back(a->number < b->number ? std::pair(a, b) : std::pair(b, a));
                }
        const std::lock_guard lock(adding);
        all.insert(all.end(), found.begin(), found.end());
    });
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
        return std::pair(a.first->number, a.second->number) <
               std::pair(b.first->number, b.second->number);
    });
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
}

Line* first_of_group(Line* line) {
    for (; line->lesser != nullptr; line = line->lesser)
        if (line->lesser->lesser != nullptr)
            line->lesser = line->lesser->lesser;
    return line;
}

void link_similar(const Candidates& pairs) {
    std::vector<char> similar(pairs.size());
    in_parallel(pairs.size(), 256, [&](size_t i) {
        const Shingles a = pairs[i].first->shingles(), b = pairs[i].second->shingles();
        similar[i] = !a.empty() && simhash::is_set_similarity_at_least(a, b, similarity);
    });
    for (size_t i = 0; i < pairs.size(); i++)
        if (similar[i]) {
            Line* a = first_of_group(pairs[i].first);
            Line* b = first_of_group(pairs[i].second);
            if (a != b)
                (a->number < b->number ? b->lesser : a->lesser) = a->number < b->number ? a : b;
        }
}

} // namespace

int main(int count, char** arguments) {
    if (count != 4) {
        fprintf(stderr, "usage: %s THREADS SIMILARITY FILE\n", arguments[0]);
        return 2;
    }
    threads = atoi(arguments[1]);
    similarity = atof(arguments[2]);
    banding = banding_at(similarity);
    std::vector<Block> blocks = read_lines(mapped(arguments[3]));
    link_similar(candidates(blocks));
    for (Block& block : blocks)
        for (Line& line : block.lines)
            if (line.lesser != nullptr)
                printf("%u\t%u\n", line.number, first_of_group(&line)->number);
}
