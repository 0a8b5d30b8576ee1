// Reading documents in tests: features as a list of strings, fingerprints with malloc's memory.
#pragma once

#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "core/text/document.hpp"

namespace simhash::test {

// A document given in slices of `slice` bytes at most, cut between characters.
struct SlicedText {
    std::string_view rest;
    size_t slice;

    TextSource source() {
        return {this, [](void* context, const uint8_t** at, size_t* bytes) {
                    SlicedText* text = static_cast<SlicedText*>(context);
                    size_t cut = std::min(text->slice, text->rest.size());
                    while (cut < text->rest.size() && (uint8_t(text->rest[cut]) & 0xC0) == 0x80)
                        cut++;
                    *at = reinterpret_cast<const uint8_t*>(text->rest.data());
                    *bytes = cut;
                    text->rest.remove_prefix(cut);
                    return cut > 0;
                }};
    }
};

using Strings = std::vector<std::string>;

struct CollectStrings {
    Strings strings;
    void operator()(const uint8_t* text, size_t bytes) {
        strings.emplace_back(reinterpret_cast<const char*>(text), bytes);
    }
};

inline Strings features(std::string_view document, FeatureKind kind = FeatureKind::kWords,
                        int width = 1, size_t slice = 1 << 20) {
    CollectStrings collected;
    SlicedText text{document, slice};
    each_feature(kind, width, text.source(), collected);
    return collected.strings;
}

inline Memory malloc_memory() {
    return {nullptr, [](void*, size_t bytes) { return malloc(bytes); },
            [](void*, void* memory) { free(memory); }};
}

// 0 and *found = false where there is none.
inline uint64_t fingerprint(std::string_view document, DocumentOptions options = {},
                            bool* found = nullptr, size_t slice = 1 << 20) {
    SlicedText text{document, slice};
    const auto result = document_fingerprint(options, text.source(), malloc_memory());
    if (found != nullptr)
        *found = result.has_value();
    return result.value_or(0);
}

} // namespace simhash::test
