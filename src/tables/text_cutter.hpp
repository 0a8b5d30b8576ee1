// From a text to what is known of a document: its lanes, and its coded words, of which its set can
// be made again (core/text/coded_words.hpp).
#pragma once

#include "core/text/coded_words.hpp"
#include "core/text/document_lanes.hpp"
#include "core/text/feature_set.hpp"
#include "server/arguments.hpp"
#include "server/server_text.hpp"
#include "values/text/shingle_set.hpp"

namespace simhash {

struct CutDocument {
    DocumentLanes lanes;
    uint64_t set_hash;   // equal sets have equal ones
    uint32_t features;   // how many; a document without features has no lanes and no hash
    uint32_t word_bytes; // of its coded words; 0 where its set is kept
};

// What is known of the document that has this set.
CutDocument document_of(FeatureHashes set);

class TextCutter {
  public:
    // In the current memory context. table_bytes: for the table of words
    explicit TextCutter(size_t table_bytes)
        : table_(server_memory(), table_bytes), coder_(server_memory(), &table_),
          set_(server_memory()) {}

    CutDocument cut(const text* document);
    // Of the last document that was cut.
    std::span<const uint8_t> words() const { return coder_.coded(); }

    // Room for coded words, to be copied there.
    uint8_t* room(size_t bytes) { return coder_.room(bytes); }
    // The set of the document whose words have been copied there, coded by this table.
    FeatureHashes set_by(const WordTable& table);

    const WordTable& table() const { return table_; }

  private:
    WordTable table_;
    WordCoder coder_;
    FeatureSet set_;
};

} // namespace simhash
