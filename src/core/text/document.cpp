// A document's fingerprint. See document.hpp.
#include "core/text/document.hpp"

namespace simhash {

static_assert(kMaxWidth * (kMaxWord + 1) <= UINT16_MAX, "FeatureCount::bytes has 16 bits");

std::optional<uint64_t> document_fingerprint(const DocumentOptions& options, TextSource source,
                                             Memory memory) {
    FeatureCounts counts(memory);
    Votes votes;
    auto vote = [&] {
        weigh(options.weighting, counts.features(), counts.distinct());
        votes.add(counts.features(), counts.distinct());
    };
    auto count = [&](const uint8_t* text, size_t bytes) {
        uint64_t hash = hash_feature(options.hash, text, bytes);
        // The section is full: its features vote, and this one begins the next section.
        if (!counts.add(hash, text, bytes)) {
            vote();
            counts.clear();
            counts.add(hash, text, bytes);
        }
    };
    each_feature(options.features, options.width, source, count);
    vote();
    counts.release();
    return votes.fingerprint();
}

} // namespace simhash
