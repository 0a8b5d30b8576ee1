// What the two passes over a query give of each document, in place of its text. The server computes
// both where its plan has the query's second column: below a sort, in parallel workers, in the
// parts of a partitioned table, on another server. So no text reaches the backend that calls.
//
//     first pass    a digest: hashes of the text and of its content, and by what candidates are
//                   found: lanes and the keys of bands (core/text/bands.hpp), or winnowed hashes
//     second pass   of the candidates alone the content: the set of shingles, or the words
//
// The texts of the second pass are known again by their hashes. These, and the hashes of the
// content, depend on a seed that is drawn for each call, so nobody can prepare texts whose hashes
// are equal.
#pragma once

#include <span>

#include "core/text/bands.hpp"
#include "server/our_function.hpp"
#include "values/text/shingle_set.hpp"

namespace simhash {

// The second argument of the functions of both passes, of the type bytea. In the second pass a
// filter of the texts that are wanted follows.
struct PassArguments {
    uint64_t seed;
    double limit; // the similarity, or the least number of words
};

// A Bloom filter (CACM 1970) with two bits for each of some hashes: of the texts that are wanted,
// or of the hashes that documents have.
class HashFilter {
  public:
    // In the current memory context, in about so many bytes.
    explicit HashFilter(size_t bytes);
    // bytes: a power of two
    HashFilter(uint8_t* filter, size_t bytes) : filter_(filter), bytes_(bytes) {}

    void add(uint64_t hash) {
        for (uint64_t bit : {hash, hash >> 32})
            filter_[bit / 8 & (bytes_ - 1)] |= uint8_t(1 << bit % 8);
    }
    bool may_have(uint64_t hash) const { return has(hash) && has(hash >> 32); }

    std::span<const uint8_t> filter() const { return {filter_, bytes_}; }

  private:
    bool has(uint64_t bit) const { return filter_[bit / 8 & (bytes_ - 1)] >> bit % 8 & 1; }

    uint8_t* filter_; // [bytes_]
    size_t bytes_;
};

// The filter has the hash of each text that is wanted, and this one: before a text is read from
// where it is stored, its size is known.
inline uint64_t hash_of_size(size_t text_bytes) { return mix(text_bytes); }

// How each digest begins.
struct DigestHeader {
    uint64_t text_hash;
    uint64_t content_hash; // equal words have equal ones, and shingles that occur equally often
    uint32_t bytes;        // of the text
    uint32_t count;        // words, or shingles, each as often as it occurs

    // With this a result of the second pass begins, and by this it is known. The content follows,
    // of 8 bytes each: hashes of shingles, ascending, or the words' in their order.
    uint64_t content_key() const { return text_hash ^ mix(content_hash); }
};

// Of near-duplicates. The keys of the bands follow, unless the document has no shingle.
struct DocumentDigest {
    DigestHeader header;
    DocumentLanes lanes;
    ShingleKind kind;
};

[[noreturn]] void report_result();

// The result of a pass as its header and the items that follow it. The server's values are not
// aligned. Another server may have made it, as that of a foreign table, so its size is checked.
template <typename Header, typename Item>
struct PassResult {
    Header header;
    const char* rest;
    size_t rest_bytes;

    explicit PassResult(Datum value, size_t most_items = SIZE_MAX) {
        bytea* result = DatumGetByteaPP(value);
        size_t bytes = VARSIZE_ANY_EXHDR(result);
        rest = VARDATA_ANY(result) + sizeof(Header);
        rest_bytes = bytes - sizeof(Header);
        if (bytes < sizeof(Header) || rest_bytes % sizeof(Item) != 0 ||
            rest_bytes / sizeof(Item) > most_items)
            report_result();
        memcpy(&header, VARDATA_ANY(result), sizeof(Header));
    }
};

// The functions of the two passes, (value, bytea) -> bytea, for values of a type.
struct PassFunctions {
    OurFunction digest, content;
};
extern const PassFunctions kDocumentPasses, kSetPasses, kPassagePasses, kContainmentPasses;

} // namespace simhash
