// The search that all functions of whole tables share, of documents, fingerprints and codes:
//
//     rows --> models --signatures within the radius--> candidates --sets of documents--> pairs
//
// A pair has a measure: the similarity of two documents, or else the distance of two values.
#pragma once

#include "server/pg.hpp"

#include <optional>

#include "tables/near_codes.hpp"
#include "tables/near_fingerprints.hpp"
#include "tables/verification.hpp"

namespace simhash {

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
    template <typename Receive>
    void find_candidates(Models* a, Models* b, const Receive& receive,
                         const LinkTeller& links = {}) {
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
    template <typename IsWanted, typename Give>
    void find_pairs(Models* a, Models* b, const IsWanted& is_wanted, const Give& give,
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
