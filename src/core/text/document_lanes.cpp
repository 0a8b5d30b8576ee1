// Computes the lanes of a document. See document_lanes.hpp.
#include "core/text/document_lanes.hpp"

#include "core/bits/standalone.hpp"

namespace simhash {

bool document_lanes(FeatureKind features, int width, TextSource source, DocumentLanes* lanes) {
    DocumentMinima minima;
    add_document(features, width, source, minima);
    *lanes = minima.words();
    return minima.any();
}

} // namespace simhash
