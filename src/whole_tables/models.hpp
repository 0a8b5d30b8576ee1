// From rows to what is searched. Of the rows with a certain value the first is the model, and the
// others are its copies, however many they are: only models are searched. A fingerprint has one
// lane of 64 bits, a code as many as its bits take: two models of which one lane is near are a
// candidate. Documents find candidates by bands (documents.hpp).
#pragma once

#include <algorithm>
#include <optional>

#include "core/bits/code_lanes.hpp"
#include "server/arguments.hpp"
#include "server/sorter.hpp"
#include "whole_tables/row_query.hpp"

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
// it. Those of documents, without lanes, are in the order of their rows.
class Models {
  public:
    using List = PagedArray<Pair>; // (lane, row)

    Models(PagePool* pool, int lanes) : pool_(pool), lanes_(lanes), rows_(pool) {
        for (int lane = 0; lane < lanes; lane++)
            lists_[lane].emplace(pool);
    }
    // Those of the others that are wanted.
    Models(Models* others, const auto& is_wanted) : Models(others->pool_, others->lanes_) {
        for (int lane = 0; lane < lanes_; lane++)
            copy(&others->list(lane), &list(lane),
                 [&](const Pair& model) { return is_wanted(RowNumber(model.second)); });
        copy(&others->rows_, &rows_, is_wanted);
    }

    int lanes() const { return lanes_; }
    List& list(int lane) { return *lists_[lane]; }
    PagedArray<RowNumber>& rows() { return rows_; } // of models without lanes
    size_t size() const { return lanes_ == 0 ? rows_.size() : lists_[0]->size(); }

    void release() {
        for (int lane = 0; lane < lanes_; lane++)
            list(lane).close();
        rows_.close();
    }

  private:
    static void copy(auto* from, auto* to, const auto& is_wanted) {
        for (size_t i = 0; i < from->size(); i++) {
            auto model = (*from)[i];
            CHECK_FOR_INTERRUPTS();
            if (is_wanted(model))
                to->add(model);
        }
    }

    PagePool* pool_;
    int lanes_;
    std::optional<List> lists_[kMaxCodeLanes];
    PagedArray<RowNumber> rows_;
};

class Links;

// Receives candidates, or pairs of rows: of one query a < b, of two a is of the first.
class CandidateReceiver {
  public:
    // receive(a, b, distance of the lanes): false ends the search. It must outlive this object.
    template <typename Receive>
    explicit CandidateReceiver(const Receive& receive)
        : call_([](const void* receive, RowNumber a, RowNumber b, int distance) -> bool {
              return (*static_cast<const Receive*>(receive))(a, b, distance);
          }),
          receive_(&receive) {}

    bool operator()(RowNumber a, RowNumber b, int distance) const {
        return call_(receive_, a, b, distance);
    }

  private:
    bool (*call_)(const void* receive, RowNumber a, RowNumber b, int distance);
    const void* receive_;
};

// The values of queries, of which near pairs are searched: documents, or fingerprints and codes.
class SearchedValues : public RowValues {
  public:
    // In the current memory context. sort_bytes: memory to sort the values of a query
    SearchedValues(PagePool* pool, size_t sort_bytes, const char* columns, const char* example)
        : RowValues(columns, example), pool_(pool), context_(CurrentMemoryContext),
          sort_bytes_(sort_bytes) {}

    // To be called after the last value of a query, or of a partition. rows: of all queries so far
    void find_models(size_t rows, Copies* copies, std::optional<Models>* models);

    // Of each value, when the first has come.
    virtual int lanes() const = 0;
    // Called after the last row of a query.
    virtual void end() {}
    // Called before a second query is read.
    virtual void begin_second(Models*) {}
    // Called before the search, of one query or two, in `memory` bytes. all_pairs: each pair will
    // be asked for, however many there are
    virtual void begin_search(Models* a, Models* b, size_t memory, bool all_pairs) = 0;

    // The candidates are found in steps. Finds those of one set of models, or between two if b is
    // not null, in about this memory, in bytes. False if the receiver has ended the search. links:
    // what is linked already may be left out
    virtual int steps() const { return lanes(); }
    virtual bool find_candidates(int step, Models* a, Models* b, size_t memory,
                                 const CandidateReceiver& receiver, Links* links) = 0;
    // Whether begin_search() has found them all, and they are not too many.
    virtual bool has_all_candidates() const { return false; }
    // Whether a candidate of this step is a pair that no earlier step had, and its measure: before,
    // that is the distance of their lanes.
    virtual bool is_pair(int step, RowNumber a, RowNumber b, double* measure) = 0;
    // True: candidates had better wait, and be compared in the order of the parts of a file.
    virtual bool wait(const Links* links) const = 0;
    virtual bool has_file() const = 0;
    // The part of the file in which the value is. Two parts fit into memory.
    virtual uint64_t part_of(RowNumber row) = 0;

  protected:
    // The rows may be models and copies, as their hashes are equal.
    virtual bool are_equal(RowNumber a, RowNumber b) = 0;
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
