// Compares the sets of candidates: pairs of documents whose fingerprints are near. Candidates wait
// up to a limit of memory, and are then compared in an order in which their sets are read nearly in
// sequence: by the parts of the file in which the sets of the two are, where some parts fit into
// memory together.
#pragma once

#include "server/pg.hpp"

#include "core/bits/distance.hpp"
#include "server/sorter.hpp"
#include "tables/documents.hpp"

namespace simhash {

class Verification {
  public:
    // In the current memory context. similarity: 0 to 1
    Verification(Documents* documents, double similarity, size_t memory_bytes)
        : documents_(*documents), similarity_(similarity), candidates_(memory_bytes) {}

    // False if the sizes of the sets alone exclude the similarity, which is at most the size of the
    // smaller one divided by that of the larger one.
    bool may_be_similar(RowNumber a, RowNumber b) {
        double of_a = documents_[a].features, of_b = documents_[b].features;
        return std::min(of_a, of_b) / std::max(of_a, of_b) >= similarity_;
    }

    // Whether the lanes of two documents before this one are near.
    bool are_near_before(int lane, RowNumber a, RowNumber b, int radius) {
        if (lane == 0)
            return false;
        DocumentLanes of_a = documents_[a].lanes, of_b = documents_[b].lanes;
        for (int i = 0; i < lane; i++)
            if (hamming_distance(of_a[size_t(i)], of_b[size_t(i)]) <= radius)
                return true;
        return false;
    }

    // Whether two documents are similar enough, and how similar they are.
    bool are_similar(RowNumber a, RowNumber b, double* similarity) {
        Documents::Sets of = documents_.sets(a, b);
        // This stops as soon as the answer is sure, so the number is computed only for pairs.
        return is_set_similarity_at_least(of.a, of.b, similarity_) &&
               set_similarity(of.a, of.b, similarity);
    }

    // True when what sets are made of is in a file, so that candidates had better wait.
    bool has_file() const { return documents_.has_file(); }

    size_t count() const { return candidates_.count(); }
    bool is_full() const { return candidates_.is_full(); }

    // Expects that the room is not full.
    void add(RowNumber a, RowNumber b) {
        // While the pairs of two parts are compared, both are in memory.
        candidates_.add(
            {documents_.part_of(a) << 32 | documents_.part_of(b), uint64_t(a) << 32 | b});
    }

    // Compares those that wait, and are still of interest when it is their turn. Calls
    // give(a, b, similarity) for each pair.
    template <typename IsWanted, typename Give>
    void finish(const IsWanted& is_wanted, const Give& give) {
        candidates_.sort();
        for (const Pair& candidate : candidates_.entries()) {
            auto a = RowNumber(candidate.second >> 32), b = RowNumber(candidate.second);
            double similarity;
            CHECK_FOR_INTERRUPTS();
            if (is_wanted(a, b) && are_similar(a, b, &similarity))
                give(a, b, similarity);
        }
        candidates_.clear();
    }

  private:
    Documents& documents_;
    double similarity_;
    SortBuffer<Pair> candidates_; // (parts of the sets of a and b, a and b)
};

} // namespace simhash
