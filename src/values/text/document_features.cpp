// Makes sets of features, and their fingerprints. See the header.
#include "values/text/document_features.hpp"

#include "core/text/minhash.hpp"
#include "server/arguments.hpp"
#include "server/server_text.hpp"

namespace simhash {

FeatureSet features_of(text* document, FeatureKind features, int width) {
    ServerText source(document);
    FeatureSet set(server_memory());
    each_feature(features, width, source.source(), set);
    return set;
}

bool minhash_of(FeatureHashes hashes, uint64_t* fingerprint) {
    Minima minima;
    for (uint64_t hash : hashes)
        minima.add(hash);
    return minhash(minima, fingerprint);
}

} // namespace simhash
