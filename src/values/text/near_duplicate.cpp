// near_duplicate() and the operator =~~ of texts. Two documents are near-duplicates where
//
//   - one of their lanes (core/text/document_lanes.hpp) lies within near_radius(similarity), and
//   - the similarity of their sets of shingles is at least `similarity`.
//
// The first condition is part of the definition, so that an index on the lanes finds all
// near-duplicates. A document without a feature is nobody's near-duplicate.
//
// Beside them are the functions of the operator class of text: the lanes of a document, what an
// index is to know of them, and whether one of them lies in a ball.
#include "core/layout/lane_radii.hpp"
#include "core/text/document_lanes.hpp"
#include "server/arguments.hpp"
#include "server/server_text.hpp"
#include "values/code/code.hpp"
#include "values/text/kept_text.hpp"
#include "values/text/shingle_set.hpp"

using namespace simhash;

namespace {

// ---- one document ----

// A document's lanes and features, of one reading. Most pairs are told apart by their lanes, so the
// features are sorted into a set when they are asked for.
class Document {
  public:
    // One reading gives both: the hashes go into the set, unsorted, and into the minima.
    explicit Document(text* document) : set_(server_memory()) {
        ServerText source(document);
        Reader reader{&set_, {}};
        each_feature(kShingles, kShingleWidth, source.source(), reader);
        has_features_ = reader.minima.any();
        lanes_ = reader.minima.words();
    }

    bool has_features() const { return has_features_; }
    const DocumentLanes& lanes() const { return lanes_; }
    FeatureHashes features() {
        if (!is_sorted_)
            hashes_ = set_.finish();
        is_sorted_ = true;
        return hashes_;
    }
    void release() { set_.release(); }

  private:
    // A consumer of each_feature().
    struct Reader {
        FeatureSet* set;
        DocumentMinima minima;

        void feature(const uint8_t* bytes, size_t length) {
            uint64_t hash = hash_feature(HashKind::kXxh3, bytes, length);
            set->add(hash);
            minima.add(hash);
        }
    };

    FeatureSet set_;
    FeatureHashes hashes_;
    bool is_sorted_ = false, has_features_;
    DocumentLanes lanes_;
};

// Near-duplicates have sets of at least this similarity and a lane within this radius.
struct Threshold {
    double similarity;
    int radius;
};

bool are_near_duplicates(Document* a, Document* b, const Threshold& threshold) {
    // The quickest comes first: the sets have to be sorted before they can be compared.
    return a->has_features() && b->has_features() &&
           nearest_lane(a->lanes(), b->lanes()) <= threshold.radius &&
           is_set_similarity_at_least(a->features(), b->features(), threshold.similarity);
}

// ---- what is kept from call to call ----

struct CallSite : KeptTexts<Document> {
    Threshold threshold; // of the last call

    void begin(MemoryContext parent) {
        KeptTexts::begin(parent);
        threshold = {kAlikeSimilarity, kAlikeRadius};
    }
};

// The threshold of a similarity from 0 to 1.
Threshold threshold_of(double similarity) {
    // To find the radius takes a sum over the distances for each try, so that of =~~ is a constant.
    return {similarity, similarity == kAlikeSimilarity ? kAlikeRadius : near_radius(similarity)};
}

// Sorts its set at once: an error in the middle of sorting leaves no document that is kept.
struct SortedDocument : Document {
    explicit SortedDocument(text* document) : Document(document) { features(); }
};

// Of a longer document nothing is kept beyond the statement.
constexpr size_t kMostKeptBytes = 64 * 1024;

// Compares two documents in the first call of a site. An exclusion constraint makes such a call for
// each row that it looks at, with the new row's document second: the session keeps that one.
bool compare_once(FunctionCallInfo fcinfo, const Threshold& threshold) {
    static KeptText<SortedDocument> second;
    if (!second.has_begun())
        second.begin(TopMemoryContext);
    text* given = PG_GETARG_TEXT_PP(0);
    Document first(given);
    bool result = are_near_duplicates(&first, second.of(fcinfo, 1), threshold);
    if (second.size() > kMostKeptBytes)
        second.forget();
    first.release();
    PG_FREE_IF_COPY(given, 0);
    return result;
}

bool compare_arguments(FunctionCallInfo fcinfo, CallSite* site, const Threshold& threshold) {
    if (site == nullptr)
        return compare_once(fcinfo, threshold);
    Document* a = site->arguments[0].of(fcinfo, 0);
    Document* b = site->arguments[1].of(fcinfo, 1);
    return are_near_duplicates(a, b, threshold);
}

// Made of what a call site keeps, too: an index asks through the one FmgrInfo that the relation's
// cache holds for the session. So a document is cut once for a query that looks for a
// near-duplicate and the INSERT with an exclusion constraint that follows: that alone asks three
// times, before, during and after the insertion.
struct LanesOfText {
    DocumentLanes lanes;
    bool has_features;

    explicit LanesOfText(text* document) {
        ServerText source(document);
        has_features = document_lanes(kShingles, kShingleWidth, source.source(), &lanes);
    }
};

} // namespace

// near_duplicate(a text, b text, similarity double precision) -> boolean
SIMHASH_FUNCTION(simhash_near_duplicate) {
    double similarity = share_argument(fcinfo, 2, "similarity");
    auto* site = call_site<CallSite>(fcinfo);
    if (site == nullptr)
        PG_RETURN_BOOL(compare_arguments(fcinfo, nullptr, threshold_of(similarity)));
    // The similarity is mostly a constant of the query, so the radius is computed once.
    if (site->threshold.similarity != similarity)
        site->threshold = threshold_of(similarity);
    PG_RETURN_BOOL(compare_arguments(fcinfo, site, site->threshold));
}

// documents_alike(a text, b text) -> boolean, the operator =~~
SIMHASH_FUNCTION(simhash_documents_alike) {
    PG_RETURN_BOOL(
        compare_arguments(fcinfo, call_site<CallSite>(fcinfo), {kAlikeSimilarity, kAlikeRadius}));
}

// document_lanes(document text) -> bigint[], empty where it has no feature
SIMHASH_FUNCTION(simhash_document_lanes) {
    text* document = PG_GETARG_TEXT_PP(0);
    auto* site = call_site<KeptText<LanesOfText>>(fcinfo);
    bool is_kept = site != nullptr && VARSIZE_ANY_EXHDR(document) <= kMostKeptBytes;
    LanesOfText of = is_kept ? *site->of(document) : LanesOfText(document);
    PG_FREE_IF_COPY(document, 0);
    // The index keeps a document without lanes in its null table.
    return bigint_array(of.lanes.data(), of.has_features ? kLanesOfDocument : 0);
}

// document_lane_layout(type modifier integer) -> integer[]: how many lanes a text has, the radius
// of
// =~~, and that one lane within a radius is enough
SIMHASH_FUNCTION(simhash_document_lane_layout) {
    return lane_layout({kLanesOfDocument, kAlikeRadius, int(LaneRule::kAny)});
}

// document_in_ball(document text, ball bit_ball) -> boolean, the operator <@~~. The center is a
// minhash_code() of kLanesOfDocument * 64 bits.
SIMHASH_FUNCTION(simhash_document_in_ball) {
    text* document = PG_GETARG_TEXT_PP(0);
    const BitBall* ball = datum_get_bit_ball(PG_GETARG_DATUM(1));
    DocumentLanes center;
    if (!read_lanes(*ball, center))
        report_different_lengths(kLanesOfDocument * kFingerprintBits, ball->center.bit_len);
    LanesOfText of(document);
    PG_FREE_IF_COPY(document, 0);
    // A document without a feature has no lanes, and lies in no ball.
    PG_RETURN_BOOL(of.has_features && nearest_lane(of.lanes, center) <= ball->radius);
}
