// From rows to what is searched. Of the rows with a certain value the first is the model, and the
// others are its copies, however many they are: only models are searched. A fingerprint has one
// lane of 64 bits, a code as many as its bits take: two models of which one lane is near are a
// candidate. Documents find candidates by bands (documents.hpp).
#pragma once

#include <algorithm>
#include <optional>

#include "core/bits/code_lanes.hpp"
#include "core/bits/function_ref.hpp"
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
    void append(RowNumber last, RowNumber copy) { next_.poke(last, copy); }

    // The next row with the value of this one, or kNoRow.
    RowNumber after(RowNumber row) { return next_[row]; }

    size_t rows() const { return next_.size(); }

  private:
    PagedArray<RowNumber> next_;
};

// The models by each of their lanes: in the order of the lane, and of their rows where many have
// it. Those of documents, without lanes, are in the order in which they came.
class Models {
  public:
    using List = PagedArray<Pair>; // (lane, row)

    // ids: of models without lanes
    Models(PagePool* pool, int lanes, RowIds* ids = nullptr)
        : pool_(pool), lanes_(lanes), ids_(ids), places_(pool) {
        for (int lane = 0; lane < lanes; lane++)
            lists_[lane].emplace(pool);
    }
    // Those of the others that are wanted.
    Models(Models* others, const auto& is_wanted)
        : Models(others->pool_, others->lanes_, others->ids_) {
        for (int lane = 0; lane < lanes_; lane++)
            for (size_t i = 0; i < others->list(lane).size(); i++) {
                Pair model = others->list(lane)[i];
                CHECK_FOR_INTERRUPTS();
                if (is_wanted(RowNumber(model.second)))
                    list(lane).add(model);
            }
        others->places_.each([&](size_t place) {
            if (is_wanted(ids_->row(RowNumber(place))))
                places_.add(place);
        });
    }

    int lanes() const { return lanes_; }
    List& list(int lane) {
        Assert(lane < lanes_);
        return *lists_[lane];
    }
    PagedSet& places() { return places_; } // of models without lanes
    size_t size() const { return lanes_ == 0 ? places_.size() : lists_[0]->size(); }

    void release() {
        for (int lane = 0; lane < lanes_; lane++)
            list(lane).close();
        places_.close();
    }

  private:
    PagePool* pool_;
    int lanes_;
    RowIds* ids_;
    std::optional<List> lists_[kMaxCodeLanes];
    PagedSet places_;
};

class Links;

// Receives what a search finds.
struct FoundReceiver {
    // Takes two rows, and their measure: the similarity of two documents, or else the distance of
    // two values. Of one query a < b; of two a is of the first, whose rows have the lesser numbers.
    // False ends the search.
    FunctionRef<bool(RowNumber a, RowNumber b, double measure)> take;
    // Asked before two rows are compared: whether it matters that they are a pair. Once it does
    // not, it does not later. None: it always does.
    FunctionRef<bool(RowNumber a, RowNumber b)> wants = {};
    // Which rows are linked already: a search may leave out pairs of these. Null: it must not.
    Links* links = nullptr;

    bool are_wanted(RowNumber a, RowNumber b) const { return !wants || wants(a, b); }
};

// The values of queries, of which near pairs are searched: documents, or fingerprints and codes.
//
//     rows --> models --> candidates --whole values--> pairs
class SearchedValues : public RowValues {
  public:
    // In the current memory context. sort_bytes: memory to sort the values of a query
    SearchedValues(PagePool* pool, size_t sort_bytes, const char* columns, const char* example,
                   Contents* contents)
        : RowValues(columns, example, contents), pool_(pool), sort_bytes_(sort_bytes),
          hashes_(sort_bytes) {}

    // To be called after the last value of a query, or of a partition. rows: of all queries so far
    virtual void find_models(size_t rows, Copies* copies, std::optional<Models>* models) = 0;
    // Called before the search, of one query or two, in about `memory` bytes. all_pairs: each pair
    // will be asked for, however many there are; between two they always are
    virtual void begin_search(Models* a, Models* b, size_t memory, bool all_pairs) = 0;
    // Finds the pairs of one set of models, or between two if b is not null: in no particular
    // order, and perhaps repeatedly. False if the receiver has ended the search.
    virtual bool find(Models* a, Models* b, const FoundReceiver& receiver) = 0;
    // As find(), of one set, in order of the later row and then of the earlier one, for a receiver
    // that takes all. False, before it has taken any, if there are too many candidates. memory: to
    // sort these, in bytes
    virtual bool find_in_order(Models* models, size_t memory, const FoundReceiver& receiver) = 0;

  protected:
    // Candidates that are worth sorting, or pairs of codes, after so many searches of all models,
    // each of which may bring them. Where there are more, rows are searched in parts.
    static uint64_t few_candidates(size_t models, int searches) {
        return std::max<uint64_t>(8192, 8 * models) * uint64_t(searches);
    }

    // To be called for each row that has a value. Equal values have equal hashes. Of a value with
    // one lane this is the lane. low_hash: more bits of it, where it decides alone
    void add_hash(uint64_t hash, RowNumber row, uint32_t low_hash = 0) {
        hashes_.add({hash, uint64_t{low_hash} << 32 | row});
    }
    // Calls give((hash, row)) for each model, in order of the hashes. are_equal(a, b): whether rows
    // with the same hash, and low hash, have the same value
    void each_model(Copies* copies, const auto& are_equal, const auto& give);

    PagePool* pool_;
    size_t sort_bytes_;
    ExternalSorter<Pair> hashes_; // (hash, low hash and row)
};

void SearchedValues::each_model(Copies* copies, const auto& are_equal, const auto& give) {
    struct Model {
        RowNumber row, last_copy;
    };
    GrowingArray<Model> models(server_memory()); // those of one hash, as good as always one
    Pair last{};
    hashes_.finish();
    for (Pair entry{}; hashes_.next(&entry); last = entry) {
        CHECK_FOR_INTERRUPTS();
        auto row = RowNumber(entry.second);
        // Equal hashes come one after another, in order of their rows. So the first row with a
        // value is met first, and becomes the model.
        if (entry.first != last.first || entry.second >> 32 != last.second >> 32)
            models.clear();
        Model* end = models.data() + models.size();
        Model* model = std::find_if(models.data(), end,
                                    [&](const Model& model) { return are_equal(model.row, row); });
        if (model == end) {
            models.add({row, row});
            give({entry.first, row});
        } else {
            copies->append(model->last_copy, row);
            model->last_copy = row;
        }
    }
    models.release();
    hashes_.release();
}

} // namespace simhash
