// Makes sets of features. See the header.
#include "values/text/document_features.hpp"

#include "server/arguments.hpp"
#include "server/server_text.hpp"

namespace simhash {

FeatureSet features_of(text* document, FeatureKind features, int width) {
    ServerText source(document);
    FeatureSet set(server_memory());
    each_feature(features, width, source.source(), set);
    return set;
}

} // namespace simhash
