// Sets of features. See feature_set.hpp.
#include "core/text/feature_set.hpp"

#include <algorithm>

#include "core/bits/sort.hpp"

namespace simhash {
namespace {

// The similarity of two sets, from their sizes and the number of hashes that they share. Thresholds
// and similarities all come from this division, so that they agree.
double similarity_of(size_t shared, size_t a, size_t b) {
    return double(shared) / double(a + b - shared);
}

// The fewest hashes that sets of these sizes must share to reach the threshold; if they cannot, one
// more than they can share.
size_t fewest_shared(size_t a, size_t b, double threshold) {
    size_t most = std::min(a, b);
    // shared / (a + b - shared) >= t if shared >= t * (a + b) / (1 + t), apart from rounding.
    double estimate = threshold * double(a + b) / (1 + threshold);
    size_t fewest = estimate < double(most) ? size_t(estimate) : most;
    while (fewest > 0 && similarity_of(fewest - 1, a, b) >= threshold)
        fewest--;
    while (fewest <= most && similarity_of(fewest, a, b) < threshold)
        fewest++;
    return fewest;
}

// A position in two sets that are merged. The steps have no branches, which would be mispredicted.
struct Merge {
    FeatureHashes a, b;
    size_t at_a = 0, at_b = 0, shared = 0;

    // Takes `steps` steps. Expects that neither set ends before.
    void advance(size_t steps) {
        // These copies stay in registers.
        size_t i = at_a, j = at_b, both = shared;
        for (; steps > 0; steps--) {
            uint64_t of_a = a[i], of_b = b[j];
            both += of_a == of_b;
            i += of_a <= of_b;
            j += of_b <= of_a;
        }
        at_a = i, at_b = j, shared = both;
    }
    // The number of hashes left in the set that has fewer left. Each step takes at most one.
    size_t left() const { return std::min(a.size() - at_a, b.size() - at_b); }
};

size_t count_shared(FeatureHashes a, FeatureHashes b) {
    Merge merge{a, b};
    while (merge.left() > 0)
        merge.advance(merge.left());
    return merge.shared;
}

} // namespace

// The room grows with the number of distinct features: half of it or more is then free again.
void FeatureSet::drop_repetitions() {
    finish();
    most_ = std::max(most_, 2 * hashes_.size());
}

FeatureHashes FeatureSet::finish() {
    if (size_t count = hashes_.size(); count > sorted_) {
        uint64_t* sorted = hashes_.add_room(count);
        bucket_sort(
            hashes_.all(), sorted, [](uint64_t hash) { return hash; }, [] {});
        // Each hash goes back to the front, once.
        sorted_ = size_t(std::unique_copy(sorted, sorted + count, hashes_.data()) - hashes_.data());
        hashes_.clear();
        hashes_.added(sorted_);
    }
    return hashes_.all();
}

bool set_similarity(FeatureHashes a, FeatureHashes b, double* similarity) {
    if (a.empty() && b.empty())
        return false;
    *similarity = similarity_of(count_shared(a, b), a.size(), b.size());
    return true;
}

bool set_containment(FeatureHashes a, FeatureHashes b, double* containment) {
    if (a.empty())
        return false;
    *containment = double(count_shared(a, b)) / double(a.size());
    return true;
}

bool is_set_similarity_at_least(FeatureHashes a, FeatureHashes b, double threshold) {
    constexpr size_t kSteps = 64; // between checks whether the threshold can still be reached
    size_t fewest = fewest_shared(a.size(), b.size(), threshold);
    Merge merge{a, b};
    // It ends when enough are shared, or when too few are left for that.
    while (merge.shared < fewest && merge.shared + merge.left() >= fewest && merge.left() > 0)
        merge.advance(std::min(merge.left(), kSteps));
    return merge.shared >= fewest;
}

} // namespace simhash
