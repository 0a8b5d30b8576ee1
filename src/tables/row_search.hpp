// The search that all functions of whole tables share, of documents, fingerprints and codes:
//
//     rows --> models --signatures within the radius--> candidates --sets of documents--> pairs
//
// A pair has a measure: the similarity of two documents, or else the distance of two values.
#pragma once

#include <optional>

#include "core/bits/fingerprint.hpp"
#include "server/sorter.hpp"
#include "tables/candidates.hpp"
#include "tables/documents.hpp"

namespace simhash {

// ---- candidates of documents ----

// Compares the sets of candidates: pairs of documents whose fingerprints are near. Candidates wait
// up to a limit of memory, and are then compared in an order in which their sets are read nearly in
// sequence: by the parts of the file in which the sets of the two are, where some parts fit into
// memory together.
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
    void finish(const auto& is_wanted, const auto& give) {
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

// ---- the search ----

class RowSearch {
  public:
    // In the current memory context, in about `memory` bytes beside the pool. radius: of each
    // signature. documents: whose sets are to be compared, or null where the signatures are all
    // that there is to compare
    RowSearch(PagePool* pool, int radius, Documents* documents, double similarity, size_t memory)
        : pool_(pool), radius_(radius), memory_(documents == nullptr ? memory : memory / 3 * 2) {
        if (documents != nullptr)
            verification_.emplace(documents, similarity, memory / 3);
    }

    // Null where a candidate is a pair.
    Verification* verification() { return verification_ ? &*verification_ : nullptr; }

    // Calls receive(a, b, distance) for the candidates of one set of models, or, where b is not
    // null, between two: for each once, in no particular order, of one set with a < b. If that
    // returns false, the search ends.
    void find_candidates(Models* a, Models* b, const auto& receive, const LinkTeller& links = {}) {
        int signature = 0;
        bool is_ended = false;
        // A pair is taken by the first signature that is near.
        auto take = [&](RowNumber a, RowNumber b, int distance) {
            if (verification_ && (!verification_->may_be_similar(a, b) ||
                                  verification_->are_near_before(signature, a, b, radius_)))
                return true;
            is_ended = !receive(a, b, distance);
            return !is_ended;
        };
        CandidateReceiver receiver = {[](void* context, RowNumber a, RowNumber b, int distance) {
                                          return (*static_cast<decltype(take)*>(context))(a, b,
                                                                                          distance);
                                      },
                                      &take};
        if (a->size() == 0 || (b != nullptr && b->size() == 0))
            return;
        for (; signature < a->signatures() && !is_ended; signature++)
            find_by_list(a->list(signature), b == nullptr ? nullptr : b->list(signature), receiver,
                         links);
    }

    // Calls give(a, b, measure) for the pairs that are wanted when they are found, and would be
    // before. is_wanted(a, b) may turn from true to false.
    void find_pairs(Models* a, Models* b, const auto& is_wanted, const auto& give,
                    const LinkTeller& links = {}) {
        auto receive = [&](RowNumber a, RowNumber b, int distance) {
            if (!is_wanted(a, b))
                return true;
            if (!verification_) {
                give(a, b, distance);
                return true;
            }
            if (verification_->is_full())
                verification_->finish(is_wanted, give);
            verification_->add(a, b);
            return true;
        };
        find_candidates(a, b, receive, links);
        if (verification_)
            verification_->finish(is_wanted, give);
    }

  private:
    void find_by_list(SignatureList* a, SignatureList* b, const CandidateReceiver& receiver,
                      const LinkTeller& links) {
        if (a->lanes() == 1)
            find_near_fingerprints(a, b, radius_, memory_, receiver, links);
        else
            NearCodes(a, b, pool_, memory_).search(radius_, receiver);
    }

    PagePool* pool_;
    int radius_;
    size_t memory_; // of the search by signatures
    std::optional<Verification> verification_;
};

} // namespace simhash
