// The shingles by which near-duplicates are told, a document's set of them, or of features that its
// user found, and its stored form, the type shingle_set.
#pragma once

#include "server/pg.hpp"

#include "core/text/feature_set.hpp"

namespace simhash {

// Shingles of three words.
constexpr FeatureKind kShingles = FeatureKind::kWords;
constexpr int kShingleWidth = 3;

// The set of a document's features, in the current memory context. The caller releases it.
FeatureSet features_of(text* document, FeatureKind features, int width);

// What the shingles of a set are. Only sets of one kind can be compared: sets of two kinds have no
// shingle in common but by chance, so a similarity of theirs would mean nothing.
struct ShingleKind {
    FeatureKind features;
    int width; // 1 of a user's own features

    bool operator==(const ShingleKind&) const = default;
};

void check_comparable(ShingleKind a, ShingleKind b);

struct ShingleSet {
    int32 varlena_header;
    uint16 features; // FeatureKind
    uint16 width;
    uint64_t hashes[FLEXIBLE_ARRAY_MEMBER]; // ascending, each once

    // The datum's size tells the number of hashes; there is no field for it.
    FeatureHashes span() const {
        Assert(VARSIZE(this) >= offsetof(ShingleSet, hashes));
        return {hashes, (VARSIZE(this) - offsetof(ShingleSet, hashes)) / sizeof(uint64_t)};
    }
    ShingleKind kind() const { return {FeatureKind(features), width}; }
};

// Whether the type is shingle_set, or a domain over it. Its schema does not matter.
bool is_shingle_set(Oid type);

// The set of a value, out of line or compressed as it may be.
ShingleSet* datum_get_shingle_set(Datum value);

} // namespace simhash
