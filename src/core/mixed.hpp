// The default fingerprint: a vote of three kinds of features at once.
//
// Coarse features hardly move when a few words change, which brings near-duplicates within 3 of 64
// bits; fine ones move a lot, which keeps documents apart that only share a language and a layout.
// No single kind does both (docs/fingerprints.md has the measurements), a weighted sum does:
//
//   pairs of characters, as often as they occur       7   coarse: the language, the letters
//   triples of characters, as often as they occur    10
//   shingles of three words, each once                4   fine: the sentences
//
// Each kind gives 64 sums. They are brought to one length (the root of the sum of their squares),
// since documents have far more pairs than shingles, then added with these weights. Everything is
// an integer.
//
// Characters and words are those of cutters.hpp: one space between two words of scripts that use
// spaces. The shingles' hash is XXH3 of their text; pairs and triples have cheaper ones (pair_hash,
// triple_hash), because there are two for every character. No frequency has to be counted but that
// of the shingles: the vote of a feature that occurs f times is f votes.
#pragma once

#include "core/bit_counter.hpp"
#include "core/document.hpp"

namespace simhash {

constexpr uint64_t pair_hash(uint32_t a, uint32_t b) {
    uint64_t hash = (a + 1) * 0x9E3779B97F4A7C15 + (b + 1) * 0xD1B54A32D192ED03;
    hash = (hash ^ hash >> 32) * 0xBF58476D1CE4E5B9;
    return hash ^ hash >> 29;
}

// Of the characters a, b, c from the hashes of (a, b) and (b, c).
constexpr uint64_t triple_hash(uint64_t ab, uint64_t bc) {
    const uint64_t hash = (ab ^ (bc << 23 | bc >> 41)) * 0x94D049BB133111EB;
    return hash ^ hash >> 31;
}

// A sink of TextReader that counts the votes of pairs and triples of characters.
class CharacterVotes {
  public:
    void ascii(const uint8_t* at, const uint8_t* end);
    void character(uint32_t code_point, CharacterKind kind);

    bool any() const { return last != 0; }

    // Pairs and triples. The document begins with a pair and a triple that are padded with 0, so
    // that one of a single character has them.
    BitCounter votes;

  private:
    void step_ascii(const uint8_t* kept, int count);

    void step(uint32_t code_point) {
        const uint64_t pair = pair_hash(last, code_point);
        votes.add(pair, triple_hash(last_pair, pair));
        last = code_point;
        last_pair = pair;
    }

    void piece(uint32_t code_point, bool spaced) {
        if (gap && spaced && after_spaced)
            step(' ');
        gap = false;
        after_spaced = spaced;
        step(code_point);
    }

    uint32_t last = 0; // the last character
    uint64_t last_pair = 0;
    bool gap = false;          // a separator since the last character
    bool after_spaced = false; // the last character was of a script that uses spaces
};

// False where the document has no feature, hence no fingerprint.
bool mixed_fingerprint(TextSource source, Memory memory, uint64_t* fingerprint);

} // namespace simhash
