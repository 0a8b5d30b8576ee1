// Models with their signatures: what is searched for candidates, pairs of models whose signatures
// are within a radius. The signature of a fingerprint is itself, and that of a code all its lanes.
// A document has a signature for each of its lanes, and two documents are a candidate if one of
// these is near.
#pragma once

#include <algorithm>

#include "core/bits/code_lanes.hpp"
#include "core/text/document_lanes.hpp"
#include "server/paged_array.hpp"
#include "tables/row_ids.hpp"

namespace simhash {

// Models in the order of one of their signatures, and those of one signature in order of their
// rows. Only documents have signatures in common.
class SignatureList {
  public:
    // lanes: of a signature
    SignatureList(PagePool* pool, int lanes) : lanes_(lanes), records_(pool, lanes + 1) {}

    int lanes() const { return lanes_; }
    size_t size() const { return records_.size(); }
    bool has_file() const { return records_.has_file(); }

    void add(const uint64_t* signature, RowNumber row) {
        uint64_t record[kMaxCodeLanes + 1];
        std::copy_n(signature, lanes_, record);
        record[lanes_] = row;
        records_.add(record);
    }

    void add_some_of(SignatureList* models, const auto& keep) {
        uint64_t record[kMaxCodeLanes + 1];
        for (size_t i = 0; i < models->size(); i++) {
            CHECK_FOR_INTERRUPTS();
            models->records_.read(i, record);
            if (keep(RowNumber(record[lanes_])))
                records_.add(record);
        }
    }

    // [lanes()], valid until another page of the pool is asked for.
    const uint64_t* signature(size_t i) { return records_[i]; }
    RowNumber row(size_t i) { return RowNumber(records_[i][lanes_]); }

    void release() { records_.close(); }

  private:
    int lanes_;
    PagedRecords records_; // the signature, and the row
};

// Models in the order of each of their signatures.
class Models {
  public:
    static constexpr int kMostSignatures = kLanesOfDocument;

    // signatures: how many a model has. lanes: of each
    Models(PagePool* pool, int signatures, int lanes)
        : pool_(pool), signatures_(signatures), lists_{{pool, lanes}, {pool, lanes}} {}
    // Without models, which have the same signatures.
    static Models like(const Models& models) {
        return {models.pool_, models.signatures_, models.lists_[0].lanes()};
    }

    int signatures() const { return signatures_; }
    SignatureList* list(int signature) { return &lists_[signature]; }
    size_t size() const { return lists_[0].size(); }

    void add_some_of(Models* models, const auto& keep) {
        for (int signature = 0; signature < signatures_; signature++)
            lists_[signature].add_some_of(models->list(signature), keep);
    }

    void release() {
        for (SignatureList& models : lists_)
            models.release();
    }

  private:
    PagePool* pool_;
    int signatures_;
    SignatureList lists_[kMostSignatures];
};

} // namespace simhash
