// The codes that queries return; a fingerprint is a code of one lane.
//
// The lanes of a code are 64 adjacent bits each here; bits that the last one lacks are 0. An index
// scatters the bits (core/bits/code_lanes.hpp), as it shares a radius out evenly. A search of pairs
// shares it out by a sample (core/pairs/sampled_distances.hpp), and gives little to a lane that
// many codes have.
#pragma once

#include "core/pairs/sampled_distances.hpp"
#include "tables/models.hpp"

namespace simhash {

class Codes final : public SearchedValues {
  public:
    Codes(PagePool* pool, size_t sort_bytes, int32 radius)
        : SearchedValues(pool, sort_bytes, "an id and a fingerprint or a code",
                         "SELECT id, fp FROM docs"),
          radius_(radius), codes_(pool), part_bytes_(pool->memory_bytes() / 8) {}

    void begin(Form_pg_attribute column) override;
    void add(RowNumber row, Datum value, bool is_null) override;

    int lanes() const override { return std::max(lane_count_of_bits(bits_), 1); }
    void begin_search(Models* a, Models* b) override;
    int radius(int lane) const override { return radii_[size_t(lane)]; }
    bool is_pair(int lane, RowNumber a, RowNumber b, double* distance) override;
    bool wait() const override { return has_file(); }
    bool has_file() const override { return codes_.has_file(); }
    uint64_t part_of(RowNumber row) override { return row * bytes() / part_bytes_; }

  protected:
    bool are_equal(RowNumber a, RowNumber b) override;
    void get_lanes(RowNumber row, uint64_t* lanes) override {
        codes_.read(row * bytes(), lanes, bytes());
    }

  private:
    size_t bytes() const { return size_t(lanes()) * sizeof(uint64_t); } // of a code

    int32 radius_;
    LaneRadii radii_;
    bool are_codes_ = false, is_type_known_ = false;
    int bits_ = 0;                // of codes; 0 while none has come
    PagedBytes codes_;            // the lanes of each row, if they are several; those of NULL are 0
    uint64_t part_bytes_;         // several parts are in memory together
    RowNumber last_row_ = kNoRow; // that was compared
    uint64_t of_last_row_[kMaxCodeLanes];
};

} // namespace simhash
