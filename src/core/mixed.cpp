// The default fingerprint. See mixed.hpp.
#include "core/mixed.hpp"

#include <bit>

namespace simhash {

namespace {

constexpr int kShingleWidth = 3; // words
constexpr int64_t kPairWeight = 7, kTripleWeight = 10, kShingleWeight = 4;

// A consumer of WordCutter: each distinct shingle votes once (in a section of a very large
// document, see feature_counts.hpp).
class ShingleVotes {
  public:
    explicit ShingleVotes(Memory memory) : seen(memory) {}

    void feature(const uint8_t* text, size_t bytes) {
        const uint64_t hash = hash_feature(HashKind::kXxh3, text, bytes);
        FeatureCounts::Added added = seen.add(hash);
        if (added == FeatureCounts::Added::kSectionFull) {
            seen.clear();
            added = seen.add(hash);
        }
        if (added == FeatureCounts::Added::kNew)
            counter.add(hash, 0);
    }

    void release() { seen.release(); }

    BitCounter counter;

  private:
    FeatureCounts seen;
};

// Gives every part of a document to both.
struct MixedCutter {
    CharacterVotes& characters;
    WordCutter<ShingleVotes>& words;

    void ascii(const uint8_t* at, const uint8_t* end) {
        characters.ascii(at, end);
        words.ascii(at, end);
    }
    void character(uint32_t code_point, CharacterKind kind) {
        characters.character(code_point, kind);
        words.character(code_point, kind);
    }
};

constexpr uint64_t integer_sqrt(uint64_t n) {
    uint64_t root = 0;
    for (uint64_t bit = (uint64_t)1 << 31; bit != 0; bit >>= 1)
        if ((root | bit) * (root | bit) <= n)
            root |= bit;
    return root;
}

// Adds one kind's sums to all, brought to the length 2^24 and then weighted.
void add_normalised(const BitCounter& counter, int stream, int64_t weight, int64_t (&all)[64]) {
    int64_t sums[64];
    counter.sums(stream, sums);
    uint64_t greatest = 0;
    for (const int64_t sum : sums)
        greatest |= (uint64_t)(sum < 0 ? -sum : sum);
    const int excess = std::bit_width(greatest) - 28; // so that 64 squares fit 62 bits
    uint64_t squares = 0;
    for (int64_t& sum : sums) {
        if (excess > 0)
            sum /= (int64_t)1 << excess;
        squares += (uint64_t)(sum * sum);
    }
    const int64_t length = (int64_t)integer_sqrt(squares);
    for (int bit = 0; length > 0 && bit < 64; bit++)
        all[bit] += weight * (sums[bit] * (1 << 24) / length);
}

bool read_document(TextSource source, CharacterVotes& characters, ShingleVotes& shingles) {
    WordCutter<ShingleVotes> words(shingles, kShingleWidth);
    MixedCutter cutter{characters, words};
    TextReader reader;
    const uint8_t* at;
    size_t bytes;
    while (source.next(source.context, &at, &bytes))
        reader.feed(cutter, at, bytes);
    reader.finish(cutter);
    words.finish();
    return characters.any();
}

} // namespace

void CharacterVotes::ascii(const uint8_t* at, const uint8_t* end) {
    // First, without branches, what counts: letters, and one space for each run of separators.
    uint8_t kept[512];
    while (at < end) {
        const uint8_t* stop = end - at > (ptrdiff_t)sizeof(kept) ? at + sizeof(kept) : end;
        int count = 0;
        uint8_t before = !gap; // 0 after a separator
        for (; at < stop; at++) {
            const uint8_t folded = kFoldAscii[*at];
            kept[count] = folded != 0 ? folded : ' ';
            count += (folded | before) != 0;
            before = folded;
        }
        if (count > 0)
            step_ascii(kept, count);
    }
}

// `count` folded letters, with one space for separators. A space counts when a letter has followed.
void CharacterVotes::step_ascii(const uint8_t* kept, int count) {
    int i = kept[0] == ' ';
    if (i == 1)
        gap = true;
    if (i == count)
        return;
    piece(kept[i++], true);
    const bool ends_in_gap = i < count && kept[count - 1] == ' ';
    for (; i < count - ends_in_gap; i++)
        step(kept[i]);
    gap = ends_in_gap;
}

void CharacterVotes::character(uint32_t code_point, CharacterKind kind) {
    if (kind == kLetter || kind == kMark)
        piece(code_point, true);
    else if (kind == kSpaceless || kind == kPictograph)
        piece(code_point, false);
    else
        gap = true;
}

bool mixed_fingerprint(TextSource source, Memory memory, uint64_t* fingerprint) {
    CharacterVotes characters;
    ShingleVotes shingles(memory);
    const bool any = read_document(source, characters, shingles);
    shingles.release();
    int64_t all[64] = {};
    add_normalised(characters.votes, 0, kPairWeight, all);
    add_normalised(characters.votes, 1, kTripleWeight, all);
    add_normalised(shingles.counter, 0, kShingleWeight, all);
    uint64_t bits = 0;
    for (int bit = 0; bit < 64; bit++)
        bits |= (uint64_t)(all[bit] > 0) << bit;
    *fingerprint = bits;
    return any;
}

} // namespace simhash
