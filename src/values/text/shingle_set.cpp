// The type shingle_set, and shingle_similarity() of sets and of texts. A shingle_set is a
// document's set of shingles (core/text/feature_set.hpp): it is made once, and compared with those
// of many documents. Its text form is the kind and width of the shingles and the hash of each, for
// example words/3:9a1f...
#include <algorithm>
#include <charconv>
#include <functional>

#include "server/arguments.hpp"
#include "server/our_function.hpp"
#include "server/server_text.hpp"
#include "values/text/shingle_set.hpp"

namespace simhash {
namespace {

// Each hash is written with leading zeros, so the length of the text tells how many there are.
constexpr int kHashDigits = 16;
constexpr const char* kTypeName = "shingle_set";

// A value has less than 1 GB.
constexpr size_t kMostHashes = (MaxAllocSize - offsetof(ShingleSet, hashes)) / sizeof(uint64);

ShingleSet* make_shingle_set(ShingleKind kind, size_t count) {
    if (count > kMostHashes)
        ereport(ERROR, errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                errmsg("a document has too many different shingles for a %s", kTypeName),
                errdetail("It has %zu, and the most are %zu.", count, kMostHashes));
    size_t bytes = offsetof(ShingleSet, hashes) + count * sizeof(uint64);
    auto* set = static_cast<ShingleSet*>(palloc(bytes));
    SET_VARSIZE(set, bytes);
    set->features = uint16(kind.features);
    set->width = uint16(kind.width);
    return set;
}

// The value of a set that was collected, which is released.
Datum store(FeatureSet& collected, ShingleKind kind) {
    FeatureHashes hashes = collected.finish();
    ShingleSet* set = make_shingle_set(kind, hashes.size());
    std::copy(hashes.begin(), hashes.end(), set->hashes);
    collected.release();
    PG_RETURN_POINTER(set);
}

// The set of the elements of argument 0, which are hashed as minhash_of() does it. NULL is none.
Datum set_of_elements(FunctionCallInfo fcinfo, const char* what, const auto& hash_of) {
    FeatureSet collected(server_memory());
    array_elements(PG_GETARG_ARRAYTYPE_P(0), what).each([&](int, Datum element) {
        collected.add(hash_of(element));
    });
    return store(collected, {FeatureKind::kOwn, 1});
}

// Two texts by `compare`, set_similarity() or set_containment(): whether there is a result.
Datum compare_texts(FunctionCallInfo fcinfo,
                    bool (*compare)(FeatureHashes a, FeatureHashes b, double* result)) {
    FeatureKind features = features_argument(fcinfo, 2);
    int width = width_argument(fcinfo, 3, kShingleWidth);
    if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
        PG_RETURN_NULL();
    text* a = PG_GETARG_TEXT_PP(0);
    text* b = PG_GETARG_TEXT_PP(1);
    FeatureSet set_a = features_of(a, features, width), set_b = features_of(b, features, width);
    double result;
    bool has_result = compare(set_a.finish(), set_b.finish(), &result);
    set_a.release();
    set_b.release();
    PG_FREE_IF_COPY(a, 0);
    PG_FREE_IF_COPY(b, 1);
    // No shingles at all: there is nothing to divide by.
    if (!has_result)
        PG_RETURN_NULL();
    PG_RETURN_FLOAT8(result);
}

const char* description(ShingleKind kind) {
    return kind.features == FeatureKind::kOwn
               ? "features of your own"
               : psprintf("%s in width %d", name_of(kind.features), kind.width);
}

// ---- text form and binary form ----

// A set that was not made here may be in disorder, and comparisons merge sorted sets.
bool are_possible(ShingleKind kind, FeatureHashes hashes) {
    return kind.width >= 1 && kind.width <= (kind.features == FeatureKind::kOwn ? 1 : kMaxWidth) &&
           std::adjacent_find(hashes.begin(), hashes.end(), std::greater_equal()) == hashes.end();
}

// Sets *features to the kind whose name the text begins with, and returns the text after that name;
// null where it begins with none.
const char* skip_name(const char* text, FeatureKind* features) {
    for (FeatureKind kind : {FeatureKind::kWords, FeatureKind::kCharacters, FeatureKind::kOwn}) {
        size_t length = strlen(name_of(kind));
        *features = kind;
        if (strncmp(text, name_of(kind), length) == 0)
            return text + length;
    }
    return nullptr;
}

// Null where the text is not the text form of a set.
ShingleSet* parse_shingle_set(const char* text) {
    FeatureKind features;
    const char* at = skip_name(text, &features);
    // The text is from outside: each character is looked at before the next one.
    if (at == nullptr || *at++ != '/')
        return nullptr;
    // Where the text ends early, *at is 0, which is no character that is expected below.
    const char* end = at + strlen(at);
    int width = 0;
    // A text without digits leaves the width 0, and a width out of range leaves it so:
    // are_possible() refuses both.
    at = std::from_chars(at, end, width).ptr;
    if (*at++ != ':' || (end - at) % kHashDigits != 0)
        return nullptr;
    size_t count = size_t(end - at) / kHashDigits;
    ShingleSet* set = make_shingle_set({features, width}, count);
    for (size_t i = 0; i < count; i++, at += kHashDigits)
        // All 16 characters must be digits; from_chars() stops at the first other one.
        if (std::from_chars(at, at + kHashDigits, set->hashes[i], 16).ptr != at + kHashDigits)
            return nullptr;
    // Hashes out of order would compare as if some were missing.
    return are_possible({features, width}, set->span()) ? set : nullptr;
}

char* print_shingle_set(const ShingleSet* set) {
    StringInfoData text;
    initStringInfo(&text);
    appendStringInfo(&text, "%s/%d:", name_of(set->kind().features), set->width);
    for (uint64_t hash : set->span())
        appendStringInfo(&text, "%016llx", static_cast<unsigned long long>(hash));
    return text.data;
}

} // namespace

FeatureSet features_of(text* document, FeatureKind features, int width) {
    FeatureSet set(server_memory());
    each_feature(features, width, ServerText(document).source(), set);
    return set;
}

ShingleSet* datum_get_shingle_set(Datum value) {
    // Aligned and with a header of 4 bytes, as `hashes` must be at an address divisible by 8.
    return reinterpret_cast<ShingleSet*>(PG_DETOAST_DATUM(value));
}

void check_comparable(ShingleKind a, ShingleKind b) {
    if (a != b)
        ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                errmsg("cannot compare sets of different kinds of shingles"),
                errdetail("One is of %s, the other of %s.", description(a), description(b)),
                errhint("Make both with the same features and width."));
}

} // namespace simhash

using namespace simhash;

SIMHASH_FUNCTION(simhash_shingle_set_in) {
    const char* text = PG_GETARG_CSTRING(0);
    ShingleSet* set = parse_shingle_set(text);
    if (set == nullptr)
        // This is ereturn(), so that pg_input_is_valid() and COPY ... ON_ERROR can go on after it.
        ereturn(fcinfo->context, Datum(0), errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
                errmsg("invalid input syntax for type %s: \"%.*s\"", kTypeName,
                       pg_mbcliplen(text, int(strlen(text)), 64), text),
                errhint("Make one of a document by simhash_shingles(document)."));
    PG_RETURN_POINTER(set);
}

bool simhash::is_shingle_set(Oid type) {
    return is_our_type(getBaseType(type), {"simhash_shingle_set_in", simhash_shingle_set_in});
}

SIMHASH_FUNCTION(simhash_shingle_set_out) {
    PG_RETURN_CSTRING(print_shingle_set(datum_get_shingle_set(PG_GETARG_DATUM(0))));
}

// The binary form: features and width, 2 bytes each, then 8 bytes for each hash.
SIMHASH_FUNCTION(simhash_shingle_set_recv) {
    auto* message = reinterpret_cast<StringInfo>(PG_GETARG_POINTER(0));
    unsigned features = pq_getmsgint(message, sizeof(uint16));
    int width = int(pq_getmsgint(message, sizeof(uint16)));
    // All that is left of the message is hashes, so their number is not sent.
    int bytes = message->len - message->cursor;
    size_t count = size_t(bytes) / sizeof(uint64);
    ShingleSet* set = make_shingle_set({FeatureKind(features), width}, count);
    for (size_t i = 0; i < count; i++)
        set->hashes[i] = uint64(pq_getmsgint64(message));
    // The checks come after the reading: what was read is in memory of its own size, whatever it
    // is.
    if (features > unsigned(FeatureKind::kOwn) || bytes % int(sizeof(uint64)) != 0 ||
        !are_possible({FeatureKind(features), width}, set->span()))
        ereport(ERROR, errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
                errmsg("invalid binary representation of a %s", kTypeName));
    PG_RETURN_POINTER(set);
}

SIMHASH_FUNCTION(simhash_shingle_set_send) {
    const ShingleSet* set = datum_get_shingle_set(PG_GETARG_DATUM(0));
    StringInfoData message;
    pq_begintypsend(&message);
    pq_sendint16(&message, set->features);
    pq_sendint16(&message, set->width);
    for (uint64_t hash : set->span())
        pq_sendint64(&message, hash);
    PG_RETURN_BYTEA_P(pq_endtypsend(&message));
}

// simhash_shingles(document text, features text, width integer) -> shingle_set
SIMHASH_FUNCTION(simhash_shingles) {
    FeatureKind features = features_argument(fcinfo, 1);
    int width = width_argument(fcinfo, 2, kShingleWidth);
    if (PG_ARGISNULL(0))
        PG_RETURN_NULL();
    FeatureSet collected = features_of(PG_GETARG_TEXT_PP(0), features, width);
    return store(collected, {features, width});
}

// simhash_shingles_of(features text[]) -> shingle_set
SIMHASH_FUNCTION(simhash_shingles_of_text_array) {
    return set_of_elements(fcinfo, "features", [](Datum feature) {
        return hash_server_text(HashKind::kXxh3, feature);
    });
}

// simhash_shingles_of(hashes bigint[]) -> shingle_set
SIMHASH_FUNCTION(simhash_shingles_of_bigint_array) {
    return set_of_elements(fcinfo, "hashes",
                           [](Datum hash) { return uint64_t(DatumGetInt64(hash)); });
}

// shingle_similarity(a shingle_set, b shingle_set) -> double precision
SIMHASH_FUNCTION(simhash_shingle_similarity_shingle_set) {
    ShingleSet* a = datum_get_shingle_set(PG_GETARG_DATUM(0));
    ShingleSet* b = datum_get_shingle_set(PG_GETARG_DATUM(1));
    check_comparable(a->kind(), b->kind());
    double similarity;
    bool has_similarity = set_similarity(a->span(), b->span(), &similarity);
    PG_FREE_IF_COPY(a, 0);
    PG_FREE_IF_COPY(b, 1);
    if (!has_similarity)
        PG_RETURN_NULL();
    PG_RETURN_FLOAT8(similarity);
}

// shingle_similarity(a text, b text, features text, width integer) -> double precision
SIMHASH_FUNCTION(simhash_shingle_similarity_text) { return compare_texts(fcinfo, set_similarity); }

// shingle_containment(a text, b text, features text, width integer) -> double precision
SIMHASH_FUNCTION(simhash_shingle_containment) { return compare_texts(fcinfo, set_containment); }
