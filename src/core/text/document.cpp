// A document's fingerprint. See document.hpp.
#include "core/text/document.hpp"

namespace simhash {

static_assert(kMaxWidth * (kMaxWord + 1) <= UINT16_MAX, "FeatureCount::bytes has 16 bits");

namespace {

class FingerprintConsumer {
  public:
    FingerprintConsumer(const DocumentOptions& options, Memory memory)
        : options_(options), counts_(memory) {}

    void feature(const uint8_t* text, size_t bytes) {
        uint64_t hash = hash_feature(options_.hash, text, bytes);
        // The section is full: its features vote, and this one begins the next section.
        if (!counts_.add(hash, text, bytes)) {
            vote();
            counts_.clear();
            counts_.add(hash, text, bytes);
        }
    }

    std::optional<uint64_t> finish() {
        vote();
        counts_.release();
        return votes_.fingerprint();
    }

  private:
    void vote() {
        weigh(options_.weighting, counts_.features(), counts_.distinct());
        votes_.add(counts_.features(), counts_.distinct());
    }

    const DocumentOptions& options_;
    FeatureCounts counts_;
    Votes votes_;
};

} // namespace

std::optional<uint64_t> document_fingerprint(const DocumentOptions& options, TextSource source,
                                             Memory memory) {
    FingerprintConsumer consumer(options, memory);
    each_feature(options.features, options.width, source, consumer);
    return consumer.finish();
}

} // namespace simhash
