// Codes, bit strings of one length, while they are collected for a search of near pairs.
//
// The lanes of a code are 64 adjacent bits each here; bits that the last one lacks are 0. So codes
// are in the order of the server's bit strings, and their distances are those of the lanes. An
// index scatters the bits (core/bits/code_lanes.hpp), as it shares a radius out evenly. A search of
// pairs shares it out by a sample, and gives little to a lane that many codes have.
#pragma once

#include "server/pg.hpp"

#include <optional>

#include "core/bits/code_lanes.hpp"
#include "server/record_sorter.hpp"

namespace simhash {

// Raises an error where the radius is below 0, or above all distances of codes.
void check_code_radius(int32 radius);

// Stands for the radius that follows from the length.
constexpr int32 kRadiusOfLength = -1;

// The radius of a search among codes of `bits` bits.
inline int32 code_radius(int32 given, int bits) {
    return given == kRadiusOfLength ? near_radius_of_bits(bits) : given;
}

// A code of `bits` bits as a value of type bit, in the current memory context.
Datum code_datum(const uint64_t* lanes, int bits);

// Collects codes in the memory that a search will need for as many, or else in a file.
class CodeSet {
  public:
    // sets: how many sets share the memory. with_rows: whether each code comes with its row, and is
    // kept for each row.
    explicit CodeSet(MemoryContext context, int sets = 1, bool with_rows = false)
        : context_(context), sets_(sets), with_rows_(with_rows) {}

    // Takes a bit string. Raises an error where it has another length than the one before, or than
    // any code.
    void add(Datum code, uint64_t row = 0);

    // The length of the codes, or 0 if there is none.
    int bits() const { return bits_; }
    int lanes() const { return lane_count_of_bits(bits_); }
    bool with_rows() const { return with_rows_; }

    bool is_spilled() const { return sorter_ && sorter_->is_spilled(); }

    // Gives the distinct codes, each followed by its row where they come with rows, in order.
    // Expects that there is a code.
    RecordSorter& sorter() { return *sorter_; }

    void release() {
        if (sorter_)
            sorter_->release();
        sorter_.reset();
    }

  private:
    void begin(int bits);

    MemoryContext context_;
    int sets_;
    bool with_rows_;
    int bits_ = 0;
    std::optional<RecordSorter> sorter_;
};

// Raises an error where both have codes, and of different lengths.
void check_same_length(const CodeSet& a, const CodeSet& b);

} // namespace simhash
