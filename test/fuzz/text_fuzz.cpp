// The way from bytes to fingerprints under libFuzzer: any bytes, any options, slices of any size.
// The first three bytes choose; the rest is the document. Checked: nothing is read out of bounds
// (sanitizers), and the slices a document comes in do not change its fingerprint.
#include <algorithm>
#include <cstdlib>
#include <vector>

#include "core/text/document.hpp"
#include "core/text/feature_list.hpp"

using namespace simhash;

namespace {

struct Slices {
    const uint8_t* at;
    const uint8_t* end;
    size_t slice;              // bytes
    std::vector<uint8_t> copy; // of exactly the slice's size, so that a read beyond it is seen

    TextSource source() {
        return {this, [](void* context, const uint8_t** at, size_t* bytes) {
                    Slices* slices = static_cast<Slices*>(context);
                    if (slices->at == slices->end)
                        return false;
                    const uint8_t* cut =
                        slices->at + std::min<size_t>(slices->slice, slices->end - slices->at);
                    // Only before ASCII: surely between characters.
                    while (cut < slices->end && *cut >= 0x80)
                        cut++;
                    slices->copy = std::vector<uint8_t>(slices->at, cut);
                    slices->at = cut;
                    *at = slices->copy.data();
                    *bytes = slices->copy.size();
                    return true;
                }};
    }
};

const Memory kMemory = {nullptr, [](void*, size_t bytes) { return malloc(bytes); },
                        [](void*, void* held) { free(held); }};

struct Prints {
    bool found;
    uint64_t fingerprint;
    bool operator==(const Prints& other) const {
        return found == other.found && (!found || fingerprint == other.fingerprint);
    }
};

Prints print(const DocumentOptions& options, const uint8_t* text, size_t bytes, size_t slice) {
    Slices slices{text, text + bytes, slice, {}};
    Prints prints;
    prints.found = document_fingerprint(options, slices.source(), kMemory, &prints.fingerprint);
    return prints;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
    if (bytes < 3)
        return 0;
    DocumentOptions options;
    options.features = FeatureKind(data[0] % 2);
    options.width = 1 + data[1] % kMaxWidth;
    options.weighting = Weighting(data[0] / 2 % 5);
    options.hash = HashKind(data[0] / 10 % 2);
    const size_t slice = 1 + data[2] % 64;
    if (!(print(options, data + 3, bytes - 3, bytes) == print(options, data + 3, bytes - 3, slice)))
        abort();

    FeatureList list(kMemory);
    Slices slices{data + 3, data + bytes, slice, {}};
    each_feature(options.features, options.width, slices.source(), list);
    list.release();
    return 0;
}
