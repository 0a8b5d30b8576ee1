// From rows to what is searched. Of the rows with a certain value the first is the model, and the
// others are its copies, however many they are: only models are searched. Each has a lane or more,
// of 64 bits: a fingerprint one, a document two, a code as many as its bits take. Two models of
// which one lane is near are a candidate.
#pragma once

#include <algorithm>
#include <optional>

#include "core/bits/code_lanes.hpp"
#include "server/arguments.hpp"
#include "server/sorter.hpp"
#include "tables/query_rows.hpp"

namespace simhash {

// The copies of each model: a list in order of their numbers.
class Copies {
  public:
    explicit Copies(PagePool* pool) : next_(pool) {}

    // Adds rows, up to this number of them, that are no copies so far.
    void add_rows(size_t count) {
        while (next_.size() < count)
            next_.add(kNoRow);
    }

    // Appends a copy to the list that ends with `last`: the model, or a copy of it.
    void append(RowNumber last, RowNumber copy) { next_.set(last, copy); }

    // The next row with the value of this one, or kNoRow.
    RowNumber after(RowNumber row) { return next_[row]; }

    size_t rows() const { return next_.size(); }

  private:
    PagedArray<RowNumber> next_;
};

// The models by each of their lanes: in the order of the lane, and of their rows where many have
// it.
class Models {
  public:
    using List = PagedArray<Pair>; // (lane, row)

    Models(PagePool* pool, int lanes) : pool_(pool), lanes_(lanes) {
        for (int lane = 0; lane < lanes; lane++)
            lists_[lane].emplace(pool);
    }
    // Those of the others that are wanted.
    Models(Models* others, const auto& is_wanted) : Models(others->pool_, others->lanes_) {
        for (int lane = 0; lane < lanes_; lane++)
            for (size_t i = 0; i < others->size(); i++) {
                Pair model = others->list(lane)[i];
                CHECK_FOR_INTERRUPTS();
                if (is_wanted(RowNumber(model.second)))
                    list(lane).add(model);
            }
    }

    int lanes() const { return lanes_; }
    List& list(int lane) { return *lists_[lane]; }
    size_t size() const { return lists_[0]->size(); }

    void release() {
        for (int lane = 0; lane < lanes_; lane++)
            list(lane).close();
    }

  private:
    PagePool* pool_;
    int lanes_;
    std::optional<List> lists_[kMaxCodeLanes];
};

// The values of queries, of which near pairs are searched: documents, or fingerprints and codes.
class SearchedValues : public RowValues {
  public:
    // In the current memory context. sort_bytes: memory to sort the values of a query
    SearchedValues(PagePool* pool, size_t sort_bytes, const char* columns, const char* example)
        : RowValues(columns, example), pool_(pool), context_(CurrentMemoryContext),
          sort_bytes_(sort_bytes) {}

    // Reads the values that a query returns.
    void read(const text* query, RowIds* ids, Copies* copies, std::optional<Models>* models) {
        read_rows(query, ids, this);
        end();
        find_models(ids->count(), copies, models);
    }
    // To be called after the last value of a query, or of a partition. rows: of all queries so far
    void find_models(size_t rows, Copies* copies, std::optional<Models>* models);

    // Of each value, when the first has come.
    virtual int lanes() const { return 1; }
    // Called before a second query is read.
    virtual void begin_second(Models*) {}
    // Called before the search, of one query or two.
    virtual void begin_search(Models*, Models*) {}
    // The radius of a lane, or -1: it is not searched.
    virtual int radius(int) const { return -1; }

    // What two rows are as is known from their lanes: false if that or an earlier lane shows that
    // they are no pair, or one that was met before.
    virtual bool may_be_pair(int, RowNumber, RowNumber) { return true; }
    // Whether they are a pair, and its measure: before, that is the distance of their lanes.
    virtual bool is_pair(int, RowNumber, RowNumber, double*) { return true; }
    // True: candidates had better wait, and be compared in the order of the parts of a file.
    virtual bool wait() const { return false; }
    virtual bool has_file() const { return false; }
    // The part of the file in which the value is. Two parts fit into memory.
    virtual uint64_t part_of(RowNumber) { return 0; }

  protected:
    // Called after the last row of a query.
    virtual void end() {}
    // The rows may be models and copies, as their hashes are equal.
    virtual bool are_equal(RowNumber, RowNumber) { return true; }
    virtual void get_lanes(RowNumber, uint64_t*) {}

    // To be called for each row that has a value. Equal values have equal hashes. Of a value with
    // one lane this is the lane.
    void add_hash(uint64_t hash, RowNumber row) {
        if (!hashes_)
            begin_hashes();
        hashes_->add({hash, row});
    }

    PagePool* pool_;
    MemoryContext context_;
    size_t sort_bytes_;

  private:
    void begin_hashes();
    void each_model(Copies* copies, const auto& give);

    std::optional<ExternalSorter<Pair>> hashes_; // (hash, row)
};

} // namespace simhash
