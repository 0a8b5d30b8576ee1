// Models with their keys: what is searched for candidates, pairs of models whose keys are within a
// radius. The key of a fingerprint is itself, and that of a code all its lanes. A document has a
// key for each of its lanes, and two documents are a candidate if one of these is near.
#pragma once

#include "server/pg.hpp"

#include <algorithm>

#include "core/bits/code_lanes.hpp"
#include "core/text/document_lanes.hpp"
#include "server/paged_array.hpp"
#include "tables/row_ids.hpp"

namespace simhash {

// Models in the order of one of their keys, and those of one key in order of their rows. Only
// documents have keys in common.
class ModelsByKey {
  public:
    // lanes: of a key
    ModelsByKey(PagePool* pool, int lanes) : lanes_(lanes), records_(pool, lanes + 1) {}

    int lanes() const { return lanes_; }
    size_t size() const { return records_.size(); }
    bool has_file() const { return records_.has_file(); }

    // Adds the next one.
    void add(const uint64_t* key, RowNumber row) {
        uint64_t record[kMaxCodeLanes + 1];
        std::copy_n(key, lanes_, record);
        record[lanes_] = row;
        records_.add(record);
    }

    // Adds those whose rows are to be kept.
    template <typename Keep>
    void add_some_of(ModelsByKey* models, const Keep& keep) {
        uint64_t record[kMaxCodeLanes + 1];
        for (size_t i = 0; i < models->size(); i++) {
            CHECK_FOR_INTERRUPTS();
            models->records_.read(i, record);
            if (keep(RowNumber(record[lanes_])))
                records_.add(record);
        }
    }

    // [lanes()], valid until another page of the pool is asked for.
    const uint64_t* key(size_t i) { return records_[i]; }
    RowNumber row(size_t i) { return RowNumber(records_[i][lanes_]); }

    void release() { records_.close(); }

  private:
    int lanes_;
    PagedRecords records_; // the key, and the row
};

// Models in the order of each of their keys.
class Models {
  public:
    static constexpr int kMostKeys = kLanesOfDocument;

    // keys: how many a model has. lanes: of each
    Models(PagePool* pool, int keys, int lanes)
        : pool_(pool), keys_(keys), by_key_{{pool, lanes}, {pool, lanes}} {}
    // Without models, which have the same keys.
    static Models like(const Models& models) {
        return {models.pool_, models.keys_, models.by_key_[0].lanes()};
    }

    int keys() const { return keys_; }
    ModelsByKey* by_key(int key) { return &by_key_[key]; }
    size_t size() const { return by_key_[0].size(); }

    template <typename Keep>
    void add_some_of(Models* models, const Keep& keep) {
        for (int key = 0; key < keys_; key++)
            by_key_[key].add_some_of(models->by_key(key), keep);
    }

    void release() {
        for (ModelsByKey& models : by_key_)
            models.release();
    }

  private:
    PagePool* pool_;
    int keys_;
    ModelsByKey by_key_[kMostKeys];
};

} // namespace simhash
