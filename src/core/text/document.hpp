// A document's fingerprint: reader -> cutter -> hash -> frequencies -> weights -> votes.
#pragma once

#include "core/bits/memory.hpp"
#include "core/text/cutters.hpp"
#include "core/text/feature_counts.hpp"
#include "core/text/feature_hash.hpp"
#include "core/text/votes.hpp"

namespace simhash {

// The number of what a word is, by which the lanes of texts are computed: 1.2 had 0.
constexpr int kWordsDefinition = 1;

enum class FeatureKind : uint32_t {
    kWords,
    kCharacters,
    kOwn, // what a caller found: no text is cut into these
};

constexpr int default_width(FeatureKind features) {
    return features == FeatureKind::kCharacters ? 4 : 1;
}

struct DocumentOptions {
    FeatureKind features = FeatureKind::kWords;
    int width = 1; // words or characters per feature, 1..kMaxWidth
    Weighting weighting = Weighting::kBalanced;
    HashKind hash = HashKind::kXxh3;
};

// A document, piece by piece: `next` sets `at` to `bytes` bytes of UTF-8, cut between characters,
// and returns false at the end. Inside the server it checks for interrupts.
struct TextSource {
    void* context;
    bool (*next)(void* context, const uint8_t** at, size_t* bytes);
};

// Reads a document to its end: reader -> cutter.
void read_document(TextSource source, auto& cutter) {
    TextReader reader;
    const uint8_t* at;
    size_t bytes;
    while (source.next(source.context, &at, &bytes))
        reader.feed(cutter, at, bytes);
    // The reader comes first: its last character may belong to the cutter's last word.
    reader.finish(cutter);
    cutter.finish();
}

// Gives a document's words to the consumer, in order and with repetitions.
template <typename Consumer>
void each_word(TextSource source, Consumer& consumer) {
    WordCutter<Consumer> cutter(consumer);
    read_document(source, cutter);
}

// The same of its features, words or characters side by side.
template <typename Consumer>
void each_feature(FeatureKind features, int width, TextSource source, Consumer& consumer) {
    if (features == FeatureKind::kCharacters) {
        CharacterCutter<Consumer> cutter(consumer, width);
        read_document(source, cutter);
    } else if (width == 1) {
        each_word(source, consumer);
    } else {
        Shingles<Consumer> shingles(consumer, width);
        each_word(source, shingles);
        shingles.finish();
    }
}

// None if the document has no feature.
std::optional<uint64_t> document_fingerprint(const DocumentOptions& options, TextSource source,
                                             Memory memory);

} // namespace simhash
