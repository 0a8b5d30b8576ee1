// Cuts a text. See cutting.hpp.
#include "tables/cutting.hpp"

namespace simhash {

namespace {

// Takes the distinct hashes of a document in any order.
class DocumentOfHashes {
  public:
    void add(uint64_t hash) {
        minima_.add(hash);
        document_.set_hash += mix(hash);
        document_.features++; // a byte of a document gives fewer than four words
    }
    CutDocument finish() {
        if (document_.features > 0)
            document_.lanes = minima_.words();
        return document_;
    }

  private:
    DocumentMinima minima_;
    CutDocument document_ = {};
};

} // namespace

CutDocument document_of(FeatureHashes set) {
    DocumentOfHashes document;
    for (uint64_t hash : set)
        document.add(hash);
    return document.finish();
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
    coder_.clear();
    set_.clear();
    each_word(ServerText(document).source(), reader);
    reader.shingles.finish();
    CutDocument cut = set_.added().size() <= kFew ? document_of_few() : document_of(set_.finish());
    // A few letters decompose into many words.
    if (words().size() > UINT32_MAX)
        ereport(ERROR, errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                errmsg("text has too many words to be compared"),
                errdetail("They take %zu bytes, of at most %u.", words().size(), UINT32_MAX));
    cut.word_bytes = uint32_t(words().size());
    return cut;
}

// To find the distinct ones takes a fraction of the time to sort them, which few documents need.
CutDocument TextCutter::document_of_few() {
    DocumentOfHashes document;
    size_t last = std::bit_ceil(2 * set_.added().size() + 1) - 1;
    std::fill_n(places_, last + 1, 0);
    bool has_zero = false; // an empty place has 0, too
    for (uint64_t hash : set_.added()) {
        size_t place = hash & last;
        while (places_[place] != 0 && places_[place] != hash)
            place = (place + 1) & last;
        if (hash == 0 ? has_zero : places_[place] == hash)
            continue;
        has_zero |= hash == 0;
        places_[place] = hash;
        document.add(hash);
    }
    return document.finish();
}

FeatureHashes TextCutter::set_by(const WordTable& table) {
    Shingles<FeatureSet> shingles(set_, kShingleWidth);
    set_.clear();
    each_coded_word(table, coder_.coded(), shingles);
    shingles.finish();
    return set_.finish();
}

} // namespace simhash
