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
#include "server/call_memory.hpp"
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
    explicit Document(text* document) : set_(server_memory()) {
        auto add = [this](const uint8_t* bytes, size_t length) {
            uint64_t hash = hash_feature(HashKind::kXxh3, bytes, length);
            set_.add(hash);
            minima_.add(hash);
        };
        each_feature(kShingles, kShingleWidth, ServerText(document).source(), add);
        lanes_ = minima_.words();
    }

    bool has_features() const { return minima_.any(); }
    const DocumentLanes& lanes() const { return lanes_; }
    FeatureHashes features() { return set_.finish(); }

  private:
    FeatureSet set_;
    DocumentMinima minima_;
    DocumentLanes lanes_;
};

bool are_near_duplicates(Document* a, Document* b, double similarity, int radius) {
    // The quickest comes first: the sets have to be sorted before they can be compared.
    return a->has_features() && b->has_features() &&
           nearest_lane(a->lanes(), b->lanes()) <= radius &&
           is_set_similarity_at_least(a->features(), b->features(), similarity);
}

// ---- what is kept from call to call ----

// Of a longer document nothing is kept beyond the statement.
constexpr size_t kMostKeptBytes = 64 * 1024;

// Compares two documents in the first call of a site. An exclusion constraint makes such a call for
// each row that it looks at, with the new row's document second: the session keeps that one.
bool compare_once(FunctionCallInfo fcinfo, double similarity, int radius) {
    static KeptText<Document> second;
    if (!second.has_begun())
        second.begin(TopMemoryContext);
    CallMemory memory;
    Document first(PG_GETARG_TEXT_PP(0));
    bool result = are_near_duplicates(&first, second.of(PG_GETARG_TEXT_PP(1)), similarity, radius);
    if (second.size() > kMostKeptBytes)
        second.forget();
    return result;
}

bool compare_arguments(FunctionCallInfo fcinfo, double similarity, int radius) {
    auto* kept = kept_texts<Document>(fcinfo, 2);
    if (kept == nullptr)
        return compare_once(fcinfo, similarity, radius);
    Document* a = kept[0].of(fcinfo, 0);
    Document* b = kept[1].of(fcinfo, 1);
    return are_near_duplicates(a, b, similarity, radius);
}

// Made of what a call site keeps, too: an index asks through the one FmgrInfo that the relation's
// cache holds for the session. So a document is cut once for a query that looks for a
// near-duplicate and the INSERT with an exclusion constraint that follows: that alone asks three
// times, before, during and after the insertion.
struct LanesOfText {
    DocumentLanes lanes;
    bool has_features;

    explicit LanesOfText(text* document) {
        has_features =
            document_lanes(kShingles, kShingleWidth, ServerText(document).source(), &lanes);
    }
};

} // namespace

// near_duplicate(a text, b text, similarity double precision) -> boolean
SIMHASH_FUNCTION(simhash_near_duplicate) {
    double similarity = share_argument(fcinfo, 2, "similarity");
    PG_RETURN_BOOL(compare_arguments(fcinfo, similarity, near_radius(similarity)));
}

// documents_alike(a text, b text) -> boolean, the operator =~~
SIMHASH_FUNCTION(simhash_documents_alike) {
    PG_RETURN_BOOL(compare_arguments(fcinfo, kAlikeSimilarity, kAlikeRadius));
}

// document_lanes(document text) -> bigint[], empty where it has no feature
SIMHASH_FUNCTION(simhash_document_lanes) {
    text* document = PG_GETARG_TEXT_PP(0);
    auto* kept = kept_texts<LanesOfText>(fcinfo, 1);
    bool is_kept = kept != nullptr && VARSIZE_ANY_EXHDR(document) <= kMostKeptBytes;
    LanesOfText of = is_kept ? *kept->of(document) : LanesOfText(document);
    PG_FREE_IF_COPY(document, 0);
    // The index keeps a document without lanes in its null table.
    return bigint_array(of.lanes.data(), of.has_features ? kLanesOfDocument : 0);
}

// document_lane_layout(type modifier integer) -> integer[]: how many lanes a text has, the radius
// of =~~, and that one lane within a radius is enough
SIMHASH_FUNCTION(simhash_document_lane_layout) {
    return lane_layout_array(
        {kLanesOfDocument, kAlikeRadius, int(LaneRule::kAny), kFingerprintBits, kWordsDefinition});
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
