// The documents that queries return, as texts or as sets of shingles: for each row its lanes, and
// what the set of its shingles can be made of again. A document is read once, and from then on it
// is known by its row.
//
// Of a text its words are kept, coded, which takes about a quarter of it, while the set of its
// shingles would take more than the text. Few documents are asked for their sets: those that are a
// candidate. All is in paged arrays, so it may be more than memory holds.
#pragma once

#include <optional>

#include "tables/cutting.hpp"
#include "tables/models.hpp"
#include "values/text/shingle_set.hpp"

namespace simhash {

struct Document {
    uint64_t kept : 56; // where its words are, or its set
    uint64_t table : 8; // by which its words are coded
    DocumentLanes lanes;
    uint32_t features;   // how many; a document without features has no lanes
    uint32_t word_bytes; // of its coded words; 0 where the set is kept
};

class Documents final : public SearchedValues, public CutReceiver {
  public:
    // In the current memory context. similarity: 0 to 1. sort_bytes: memory to sort the documents
    // of a query. set_bytes, word_bytes: for sets that were asked for, and for the table of words
    Documents(PagePool* pool, double similarity, size_t sort_bytes, size_t set_bytes,
              size_t word_bytes);

    void begin(Form_pg_attribute column) override;
    void add(RowNumber row, Datum document, bool is_null) override;

    int lanes() const override { return kLanesOfDocument; }
    int radius(int) const override { return radius_; }
    bool may_be_pair(int lane, RowNumber a, RowNumber b) override;
    bool is_pair(int lane, RowNumber a, RowNumber b, double* similarity) override;
    bool wait() const override { return true; }
    bool has_file() const override { return kept_.has_file(); }
    uint64_t part_of(RowNumber row) override { return documents_[row].kept / part_bytes_; }

  protected:
    void end() override;
    bool are_equal(RowNumber a, RowNumber b) override;
    void get_lanes(RowNumber row, uint64_t* lanes) override;

  private:
    // The sets of two documents. They are valid until the next call.
    struct Sets {
        FeatureHashes a, b;
    };
    Sets sets(RowNumber a, RowNumber b);

    // Where the set is that was made last of the rows that have this place.
    struct MadeSet {
        RowNumber row;
        uint32_t begin; // in hashes_
    };

    void check_kind(ShingleKind kind);
    void add_cut(int worker, RowNumber row, const CutDocument& document,
                 const uint8_t* words) override {
        store(row, document, words, document.word_bytes, first_table_ + worker);
    }
    void add_table(int worker, std::span<const uint8_t> words) override;
    void store(RowNumber row, const CutDocument& document, const void* kept, size_t bytes,
               int table);
    void make_room(size_t hashes);
    FeatureHashes set(RowNumber row);
    void make_set(const Document& document, uint64_t* set);

    double similarity_;
    int radius_;
    size_t part_bytes_, word_bytes_;
    bool is_text_ = true; // what the query returns; else it is sets
    std::optional<ShingleKind> kind_;
    PagedArray<Document> documents_;
    PagedBytes kept_;
    TextCutter cutter_;
    std::optional<CuttingWorkers> workers_; // while a query is read
    // 0 is that of cutter_. Those of workers follow: of the first query, and of the second.
    std::optional<WordTable> tables_[1 + 2 * CuttingWorkers::kMost];
    int first_table_ = 1;               // of the workers
    size_t most_, room_ = 0, used_ = 0; // hashes
    uint64_t* hashes_ = nullptr;        // [room_]: sets that were asked for
    size_t places_ = 0;
    MadeSet* made_ = nullptr; // [places_]
};

} // namespace simhash
