// Cuts a text. See cutting.hpp.
#include "tables/cutting.hpp"

namespace simhash {

CutDocument document_of(FeatureHashes set) {
    CutDocument document = {};
    DocumentMinima minima;
    if (set.empty())
        return document;
    for (uint64_t hash : set)
        minima.add(hash);
    document.lanes = minima.words();
    document.set_hash = hash_feature(HashKind::kXxh3, reinterpret_cast<const uint8_t*>(set.data()),
                                     set.size_bytes());
    Assert(set.size() <= UINT32_MAX); // a byte of a document gives fewer than four words
    document.features = uint32_t(set.size());
    return document;
}

CutDocument TextCutter::cut(const text* document) {
    static_assert(kShingles == FeatureKind::kWords);
    struct Reader {
        WordCoder& coder;
        Shingles<FeatureSet> shingles;

        void feature(const uint8_t* text, size_t bytes) {
            coder.feature(text, bytes);
            shingles.feature(text, bytes);
        }
    } reader = {coder_, {set_, kShingleWidth}};
    ServerText source(document);
    coder_.clear();
    set_.clear();
    each_word(source.source(), reader);
    reader.shingles.finish();
    CutDocument cut = document_of(set_.finish());
    Assert(words().size() <= UINT32_MAX); // of 1 GB of text
    cut.word_bytes = uint32_t(words().size());
    return cut;
}

FeatureHashes TextCutter::set_by(const WordTable& table) {
    Shingles<FeatureSet> shingles(set_, kShingleWidth);
    set_.clear();
    each_coded_word(table, coder_.coded(), shingles);
    shingles.finish();
    return set_.finish();
}

} // namespace simhash
