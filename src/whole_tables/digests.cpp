// The functions of the two passes over a query. See the header.
#include "whole_tables/digests.hpp"

#include <bit>
#include <type_traits>

#include "core/text/passages.hpp"
#include "server/arguments.hpp"
#include "server/server_text.hpp"

namespace simhash {

// ---- arguments and results ----

HashFilter::HashFilter(size_t bytes)
    // A bytea has less than 1 GB.
    : bytes_(std::clamp(std::bit_floor(bytes), size_t{64}, size_t{1} << 29)) {
    filter_ = static_cast<uint8_t*>(palloc0(bytes_));
}

void report_result() {
    ereport(ERROR, errcode(ERRCODE_DATA_EXCEPTION),
            errmsg("invalid result of a pass over documents"),
            errhint("Servers that run a part of the query need the same version of extension "
                    "simhash."));
}

namespace {

// What a user passes may be anything.
[[noreturn]] void report_arguments() {
    ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
            errmsg("invalid arguments of a pass over documents"),
            errhint("The functions of whole tables, such as near_duplicate_pairs, call this."));
}

struct GivenArguments {
    PassArguments pass;
    HashFilter wanted{nullptr, 0}; // in the second pass

    // greatest: limit
    GivenArguments(FunctionCallInfo fcinfo, bool is_second, double greatest) {
        bytea* given = PG_GETARG_BYTEA_P(1);
        size_t bytes = VARSIZE(given) - VARHDRSZ;
        if (bytes < sizeof(pass) || (bytes > sizeof(pass)) != is_second)
            report_arguments();
        memcpy(&pass, VARDATA(given), sizeof(pass));
        size_t filter_bytes = bytes - sizeof(pass);
        if (!(pass.limit >= 0 && pass.limit <= greatest) ||
            (is_second && !std::has_single_bit(filter_bytes)))
            report_arguments();
        wanted = {reinterpret_cast<uint8_t*>(VARDATA(given)) + sizeof(pass), filter_bytes};
    }

    uint64_t hash(const void* data, size_t bytes) const {
        return XXH3_64bits_withSeed(data, bytes, pass.seed);
    }
};

// A result: a header, and the items that follow it.
template <typename Header, typename Item>
Datum result_of(const Header& header, std::span<const Item> items) {
    // Each byte goes to the result, so none may be padding.
    static_assert(std::has_unique_object_representations_v<Header>);
    // As for any value, less than 1 GB.
    if (!AllocSizeIsValid(VARHDRSZ + sizeof(Header) + items.size_bytes()))
        ereport(ERROR, errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                errmsg("text has too many words to be compared"));
    return bytea_of(&header, sizeof(Header), std::as_bytes(items));
}

// What the calls of one plan keep from row to row.
template <typename State>
State* kept_state(FunctionCallInfo fcinfo) {
    FmgrInfo* info = fcinfo->flinfo;
    if (info->fn_extra == nullptr) {
        MemoryContext caller = MemoryContextSwitchTo(info->fn_mcxt);
        info->fn_extra = new (palloc(sizeof(State))) State(server_memory());
        MemoryContextSwitchTo(caller);
    }
    return static_cast<State*>(info->fn_extra);
}

// False where the value is known not to be wanted before it is read from where it is stored.
bool may_be_wanted(const GivenArguments& given, Datum value) {
    return !VARATT_IS_EXTENDED(DatumGetPointer(value)) ||
           given.wanted.may_have(hash_of_size(toast_raw_datum_size(value) - VARHDRSZ));
}

// The result of the second pass: the content of a document.
Datum content_of(const DigestHeader& header, std::span<const uint64_t> content) {
    return result_of(header.content_key(), content);
}

// ---- near-duplicates ----

// A value as both passes read it: its bytes, the kind of its shingles, and their hashes.
struct TextValue {
    const text* value;

    explicit TextValue(Datum datum) : value(DatumGetTextPP(datum)) {}

    static ShingleKind kind() { return {kShingles, kShingleWidth}; }
    std::span<const char> bytes() const {
        return {VARDATA_ANY(value), size_t(VARSIZE_ANY_EXHDR(value))};
    }
    void each_hash(const auto& take) const {
        struct Consumer {
            decltype(take) take_hash;
            void operator()(const uint8_t* text, size_t bytes) {
                take_hash(hash_feature(HashKind::kXxh3, text, bytes));
            }
        } consumer{take};
        each_feature(kShingles, kShingleWidth, ServerText(value).source(), consumer);
    }
};

struct SetValue {
    const ShingleSet* value;

    explicit SetValue(Datum datum) : value(datum_get_shingle_set(datum)) {}

    ShingleKind kind() const { return value->kind(); }
    std::span<const char> bytes() const {
        return {VARDATA(value), size_t(VARSIZE(value) - VARHDRSZ)};
    }
    void each_hash(const auto& take) const {
        for (uint64_t hash : value->span())
            take(hash);
    }
};

// Shingles as both passes know them: mixed with the seed, so that nobody chose what they are.
struct MixedHashes {
    uint64_t seed;
    uint64_t sum = 0;
    uint32_t count = 0;

    uint64_t add(uint64_t hash) {
        uint64_t mixed = mix(hash ^ seed);
        sum += mixed;
        count++;
        return mixed;
    }
    DigestHeader header(uint64_t text_hash, std::span<const char> value) const {
        return {text_hash, sum, uint32_t(value.size()), count};
    }
};

struct DocumentState {
    double similarity = 0;
    BandPlan plan = band_plan(0); // for the similarity: to find it takes longer than to cut a text

    explicit DocumentState(Memory) {}
    const BandPlan& plan_for(double wanted) {
        if (similarity != wanted)
            plan = band_plan(similarity = wanted);
        return plan;
    }
};

template <typename Value>
Datum document_digest(FunctionCallInfo fcinfo) {
    GivenArguments given(fcinfo, false, 1);
    Value value(PG_GETARG_DATUM(0));
    const BandPlan& plan = kept_state<DocumentState>(fcinfo)->plan_for(given.pass.limit);
    MixedHashes hashes{given.pass.seed};
    DocumentMinima minima;
    value.each_hash([&](uint64_t hash) {
        hashes.add(hash);
        minima.add(hash);
    });
    std::span<const char> bytes = value.bytes();
    DocumentDigest digest = {
        hashes.header(given.hash(bytes.data(), bytes.size()), bytes), {}, value.kind()};
    size_t count = hashes.count == 0 ? 0 : size_t(plan.bands);
    uint32_t keys[kMinimaOfDocument];
    if (count > 0) {
        DocumentMinima::Mixed mixed = minima.mixed();
        digest.lanes = DocumentMinima::words(mixed);
        plan.keys(mixed, keys);
    }
    return result_of(digest, std::span<const uint32_t>(keys, count));
}

// NULL where the document is not wanted.
template <typename Value>
Datum document_content(FunctionCallInfo fcinfo) {
    GivenArguments given(fcinfo, true, 1);
    if (!may_be_wanted(given, PG_GETARG_DATUM(0)))
        PG_RETURN_NULL();
    Value value(PG_GETARG_DATUM(0));
    std::span<const char> bytes = value.bytes();
    uint64_t text_hash = given.hash(bytes.data(), bytes.size());
    if (!given.wanted.may_have(text_hash))
        PG_RETURN_NULL();
    auto* set = kept_state<FeatureSet>(fcinfo);
    set->clear();
    MixedHashes hashes{given.pass.seed};
    value.each_hash([&](uint64_t hash) { set->add(hashes.add(hash)); });
    return content_of(hashes.header(text_hash, bytes), set->finish());
}

// ---- passages ----

struct PassageState {
    GrowingArray<uint64_t> words;
    FeatureSet winnowed;

    explicit PassageState(Memory memory) : words(memory), winnowed(memory) {}
};

// The words of a text, and how its digest begins.
DigestHeader read_words(const GivenArguments& given, Datum datum, GrowingArray<uint64_t>* words) {
    const text* value = DatumGetTextPP(datum);
    words->clear();
    add_words(value, words);
    Words all = words->all();
    return {given.hash(VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value)),
            given.hash(all.data(), all.size_bytes()), uint32_t(VARSIZE_ANY_EXHDR(value)),
            uint32_t(all.size())};
}

// The digest of a text whose words were read: its winnowed hashes for runs of that length.
Datum passage_digest(const DigestHeader& header, size_t length, PassageState* state) {
    state->winnowed.clear();
    winnow(state->words.all(), length, &state->winnowed, kPause);
    return result_of(header, state->winnowed.finish());
}

} // namespace
} // namespace simhash

using namespace simhash;

// (document text, arguments bytea) -> bytea
SIMHASH_FUNCTION(simhash_document_digest_text) { return document_digest<TextValue>(fcinfo); }
SIMHASH_FUNCTION(simhash_document_content_text) { return document_content<TextValue>(fcinfo); }

// (document shingle_set, arguments bytea) -> bytea
SIMHASH_FUNCTION(simhash_document_digest_shingle_set) { return document_digest<SetValue>(fcinfo); }
SIMHASH_FUNCTION(simhash_document_content_shingle_set) {
    return document_content<SetValue>(fcinfo);
}

// (document text, arguments bytea) -> bytea
SIMHASH_FUNCTION(simhash_passage_digest) {
    GivenArguments given(fcinfo, false, INT_MAX);
    auto* state = kept_state<PassageState>(fcinfo);
    DigestHeader header = read_words(given, PG_GETARG_DATUM(0), &state->words);
    return passage_digest(header, size_t(std::max(given.pass.limit, 1.0)), state);
}

// Of two texts of which one has most shingles of the other, nearly all have a run of 12 words in
// common. Their sets of shingles are the content.
SIMHASH_FUNCTION(simhash_containment_digest) {
    constexpr size_t kRun = 12;
    GivenArguments given(fcinfo, false, 1);
    auto* state = kept_state<PassageState>(fcinfo);
    TextValue value(PG_GETARG_DATUM(0));
    std::span<const char> bytes = value.bytes();
    read_words(given, PointerGetDatum(value.value), &state->words);
    MixedHashes hashes{given.pass.seed};
    value.each_hash([&](uint64_t hash) { hashes.add(hash); });
    return passage_digest(hashes.header(given.hash(bytes.data(), bytes.size()), bytes), kRun,
                          state);
}

SIMHASH_FUNCTION(simhash_passage_content) {
    GivenArguments given(fcinfo, true, INT_MAX);
    auto* state = kept_state<PassageState>(fcinfo);
    if (!may_be_wanted(given, PG_GETARG_DATUM(0)))
        PG_RETURN_NULL();
    const text* value = PG_GETARG_TEXT_PP(0);
    if (!given.wanted.may_have(given.hash(VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value))))
        PG_RETURN_NULL();
    DigestHeader header = read_words(given, PointerGetDatum(value), &state->words);
    return content_of(header, state->words.all());
}

namespace simhash {

const PassFunctions kDocumentPasses = {
    {"simhash_document_digest_text", simhash_document_digest_text, "document_digest"},
    {"simhash_document_content_text", simhash_document_content_text, "document_content"}};
const PassFunctions kSetPasses = {
    {"simhash_document_digest_shingle_set", simhash_document_digest_shingle_set, "document_digest"},
    {"simhash_document_content_shingle_set", simhash_document_content_shingle_set,
     "document_content"}};
const PassFunctions kPassagePasses = {
    {"simhash_passage_digest", simhash_passage_digest, "passage_digest"},
    {"simhash_passage_content", simhash_passage_content, "passage_content"}};
const PassFunctions kContainmentPasses = {
    {"simhash_containment_digest", simhash_containment_digest, "containment_digest"},
    kDocumentPasses.content};

} // namespace simhash
