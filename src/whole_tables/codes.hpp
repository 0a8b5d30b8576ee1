// The codes that queries return; a fingerprint is a code of one lane. A code's lanes are those that
// an index keeps of it (core/bits/code_lanes.hpp), and each is searched within an equal share of
// the radius (core/layout/lane_radii.hpp).
#pragma once

#include "core/layout/lane_radii.hpp"
#include "whole_tables/collector.hpp"
#include "whole_tables/models.hpp"

namespace simhash {

// Leaves out fingerprints of a second query of which none of the first one is within the radius.
// They are searched in batches as they come, so only a few of many wait for the search itself.
class NearFilter {
  public:
    // In a memory context of its own, in `memory` bytes, of which the first ones take half at most.
    NearFilter(MemoryContext context, Models::List* first, int radius, size_t memory);

    static bool fits(size_t first, size_t memory) { return first < memory / 2 / kBytesOfFirst; }

    // False if the batch is full.
    bool add(uint64_t fingerprint, RowNumber row) {
        waiting_[count_++] = {fingerprint, row};
        return count_ < most_;
    }

    // Calls give(fingerprint, row) for those of the batch that are near, and for a few others.
    // Returns the share of these in the batch.
    double take_near(const auto& give) {
        double given = 0, count = double(count_);
        find_near();
        for (; count_ > 0; count_--) {
            CHECK_FOR_INTERRUPTS();
            if (const Pair& next = waiting_[count_ - 1]; mark_of(next.first)) {
                give(next.first, RowNumber(next.second));
                given++;
            }
        }
        return given / count;
    }

    void release() { MemoryContextDelete(context_); }

  private:
    static constexpr size_t kBytesOfFirst = 2 * sizeof(uint64_t);
    static constexpr size_t kBytesOfWaiting = 2 * sizeof(uint64_t) + sizeof(Pair) + 2;
    // Larger batches save little, and all their marks are cleared, however few rows come.
    static constexpr size_t kLeastBatch = size_t{1} << 16, kBatchPerFirst = 16;

    void find_near();
    bool& mark_of(uint64_t fingerprint) const {
        constexpr uint64_t kSpread = 0x9E3779B97F4A7C15; // near ones have different marks
        return marks_[fingerprint * kSpread >> (kFingerprintBits - mark_bits_)];
    }

    FingerprintArray array_of(size_t count) {
        Memory memory = server_memory(context_);
        return {allocate_array<uint64_t>(memory, count), allocate_array<uint64_t>(memory, count),
                0};
    }

    MemoryContext context_;
    int radius_;
    FingerprintArray first_;
    size_t most_, count_ = 0;
    FingerprintArray batch_; // the waiting ones, as the search reorders them
    Pair* waiting_;          // (fingerprint, row)
    int mark_bits_;
    bool* marks_; // [2 to the power of mark_bits_]
};

class Codes final : public SearchedValues {
  public:
    Codes(PagePool* pool, size_t sort_bytes, int32 radius)
        : SearchedValues(pool, sort_bytes, "an id and a fingerprint or a code",
                         "SELECT id, fp FROM docs", nullptr),
          context_(CurrentMemoryContext), radius_(radius), codes_(pool),
          part_bytes_(pool->memory_bytes() / 8) {}

    // Called before a second query is read, and after its last row.
    void begin_second(Models* a);
    void end_second();

    void begin(Oid type, const char* name) override;
    void add(RowNumber row, Datum value, bool is_null) override;

    void find_models(size_t rows, Copies* copies, std::optional<Models>* models) override;
    void begin_search(Models* a, Models* b, size_t memory, bool all_pairs) override;
    bool find(Models* a, Models* b, const FoundReceiver& receiver) override;
    bool find_in_order(Models* models, size_t memory, const FoundReceiver& receiver) override;

  private:
    int lanes() const { return std::max(lane_count_of_bits(bits_), 1); }
    void get_lanes(RowNumber row, uint64_t* lanes) { codes_.read(row * bytes(), lanes, bytes()); }
    bool compare(int lane, RowNumber a, RowNumber b, int distance, const FoundReceiver& receiver);
    bool compare_waiting(int lane, const FoundReceiver& receiver);
    // The part of the file in which the code is. Two parts fit into memory.
    uint64_t part_of(RowNumber row) const { return row * bytes() / part_bytes_; }
    void add_lane(uint64_t lane, RowNumber row);
    void add_near(bool is_last);
    // Within which a lane is searched.
    int radius(int lane) const {
        return saturate_radius(lane_radius({LaneRule::kSum, radius_}, lanes(), lane));
    }
    size_t bytes() const { return size_t(lanes()) * sizeof(uint64_t); } // of a code

    MemoryContext context_;
    int32 radius_;
    bool are_codes_ = false, is_type_known_ = false;
    int bits_ = 0;     // of codes; 0 while none has come
    PagedBytes codes_; // the lanes of each row, if they are several; those of NULL are 0
    uint64_t part_bytes_;
    size_t search_bytes_ = 0;
    // Where codes are in a file, candidates wait to be compared in an order in which it is read
    // nearly in sequence: while the candidates of two parts are compared, both are in memory.
    std::optional<SortBuffer<Pair>> waiting_; // (parts of a and b, a and b)
    RowNumber last_row_ = kNoRow;             // that was compared
    uint64_t of_last_row_[kMaxCodeLanes];
    Models::List* first_ = nullptr; // to which the second query's rows are to be near, or null
    size_t unfiltered_ = 0;         // rows of the second query before the filter begins
    std::optional<NearFilter> filter_;
};

} // namespace simhash
