// The documents that queries return, as texts or as sets of shingles: near-duplicates among them.
//
//     first pass     a digest of each document: its lanes and the keys of its bands
//     candidates     documents with the key of one band in common (core/text/bands.hpp) and a lane
//                    within the radius, as an index finds them
//     second pass    the sets of those that are candidates
//     pairs          by their sets
//
// One band is looked at after the other: its keys are sorted with the numbers of their rows, and
// equal ones stand side by side. What is kept of a row is in paged arrays, one for each band. Keys
// that do not fit in memory are dealt to parts that do; so are the pairs that have met, by the
// lanes they are compared by.
//
// The backend that calls does this alone. Of 1 million documents the bands take 1 of 11 s of
// processor time, or 2 of 12 with memory for a tenth of them. Beside two processes that read, a
// second one for bands would save 8 or 12 % of the time, and take a protocol of its own.
#pragma once

#include <optional>

#include "whole_tables/collector.hpp"
#include "whole_tables/contents.hpp"
#include "whole_tables/models.hpp"

namespace simhash {

class Documents final : public SearchedValues {
  public:
    // In the current memory context. ids: of the rows, which come in any order. similarity: 0 to 1.
    // sort_bytes: memory to sort the documents of a query. met_bytes: memory for pairs that meet in
    // a band, and after them to sort the texts that are wanted
    Documents(PagePool* pool, RowIds* ids, double similarity, size_t sort_bytes, size_t met_bytes);

    void begin(Oid type, const char* name) override;
    void add(RowNumber row, Datum digest, bool is_null) override;

    void find_models(size_t rows, Copies* copies, std::optional<Models>* models) override;
    void begin_search(Models* a, Models* b, size_t memory, bool all_pairs) override;
    bool find(Models* a, Models* b, const FoundReceiver& receiver) override;
    bool find_in_order(Models* models, size_t memory, const FoundReceiver& receiver) override;

  private:
    // A model, among those with the same key of a band.
    struct Member {
        RowNumber place; // of its row (RowIds)
        DocumentLanes lanes;
    };
    // Models with the same key, in the order of their places. Those of a second set come last.
    struct Group {
        int band;
        std::span<Member> members;
        std::span<Member> seconds; // with which the others make pairs; empty: each with each
        uint64_t pairs = 0;
    };

    static constexpr size_t kRowsOfLine = 16;

    void check_kind(ShingleKind kind);
    void add_keys();
    void each_key(Models* a, Models* b, int band, const auto& take);
    void sort_keys(Models* a, Models* b, int band, size_t part, PagedParts<uint64_t>* dealt,
                   ExternalSorter<uint64_t>* by_key);
    bool each_group(Models* a, Models* b, const auto& on_group);
    void look_up_lanes(const Group& group);
    bool each_pair(const Group& group, const auto& on_pair);
    bool each_near(const Group& group, const auto& on_pair);
    bool met_before(int band, RowNumber place, RowNumber other);
    uint64_t candidate_of(RowNumber place, RowNumber other);
    void want_near(const Group& group);
    void look_at_met(Collector* met);
    bool compare_each(Collector* candidates, const FoundReceiver& receiver);
    bool compare(RowNumber a, RowNumber b, const FoundReceiver& receiver);

    RowIds& ids_;
    double similarity_;
    int radius_;
    BandPlan plan_;
    size_t met_bytes_, search_bytes_ = 0;
    std::optional<ShingleKind> kind_;
    Contents contents_;
    PagedArray<DocumentLanes> lanes_;
    std::optional<PagedArray<uint32_t>> keys_[kMinimaOfDocument]; // of each band
    // Of the last rows, whose keys go to these arrays a line of the processor's cache at once: the
    // arrays grow at the same place of their pages, so their ends displace one another.
    std::array<uint32_t, kRowsOfLine> new_keys_[kMinimaOfDocument];
    size_t new_rows_ = 0;
    // All candidates, unless they are very many: (later row, earlier row).
    std::optional<Collector> candidates_;
    size_t given_up_ = 0; // models whose candidates are very many
};

} // namespace simhash
