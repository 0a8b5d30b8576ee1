// Documents, and what the bench takes out of them.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/text/document.hpp"

namespace quality {

using Documents = std::vector<std::string>;
using Fingerprints = std::vector<uint64_t>;

// The fingerprints of documents, of one word or of several each.
struct Codes {
    int words = 1;
    std::vector<uint64_t> all; // of the documents, one after another

    size_t size() const { return all.size() / words; }
    const uint64_t* operator[](size_t document) const { return &all[document * words]; }
};

using Shingles = std::vector<uint64_t>; // hashes of features, sorted, distinct

struct Corpus {
    std::string name;
    Documents documents;
    bool spaceless; // of a script that is written without spaces
    // The documents as they were before edits that are not to count; empty where there are none.
    Documents before;
};

// Documents that end in a NUL byte. In script-* each is followed by what it was before.
inline Corpus read_corpus(const std::string& path) {
    const std::string name = path.substr(path.rfind('/') + 1);
    const bool spaceless = name.ends_with("-zh") || name.ends_with("-ja") ||
                           name.ends_with("-th") || name.ends_with("-cjk");
    Corpus corpus{name, {}, spaceless, {}};
    std::ifstream file(path, std::ios::binary);
    for (std::string document; std::getline(file, document, '\0');) {
        corpus.documents.push_back(document);
        if (name.starts_with("script-") && std::getline(file, document, '\0'))
            corpus.before.push_back(document);
    }
    return corpus;
}

// A document as the one slice that it is here.
struct WholeText {
    std::string_view text;
    bool read = false;

    simhash::TextSource source() {
        return {this, [](void* context, const uint8_t** at, size_t* bytes) {
                    WholeText* whole = static_cast<WholeText*>(context);
                    *at = reinterpret_cast<const uint8_t*>(whole->text.data());
                    *bytes = whole->text.size();
                    return !std::exchange(whole->read, true);
                }};
    }
};

inline uint64_t fingerprint(const std::string& document, const simhash::DocumentOptions& options) {
    const simhash::Memory memory = {nullptr, [](void*, size_t bytes) { return malloc(bytes); },
                                    [](void*, void* held) { free(held); }};
    WholeText whole{document};
    return document_fingerprint(options, whole.source(), memory).value_or(0);
}

inline Fingerprints fingerprints(const Documents& documents,
                                 const simhash::DocumentOptions& options) {
    Fingerprints all;
    for (const std::string& document : documents)
        all.push_back(fingerprint(document, options));
    return all;
}

} // namespace quality
