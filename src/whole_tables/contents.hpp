// The documents of a query in two passes: how the digest of each row begins, and the contents of
// those that are candidates, which the second pass gives. All is in paged arrays, so it may be more
// than memory holds.
#pragma once

#include <array>

#include "server/arguments.hpp"
#include "server/paged_array.hpp"
#include "whole_tables/digests.hpp"
#include "whole_tables/query_rows.hpp"

namespace simhash {

class Contents {
  public:
    using Hashes = std::span<const uint64_t>;

    // limit: the similarity, or the least number of words. sort_bytes: memory for ask()
    Contents(PagePool* pool, double limit, size_t sort_bytes);

    // ---- the first pass ----

    void add_row(const DigestHeader& header) {
        headers_.add(header);
        is_wanted_.add(false);
    }
    size_t rows() const { return headers_.size(); }
    DigestHeader header(RowNumber row) { return headers_[row]; }

    // ---- the second pass ----

    // The content of the row's document is wanted.
    void want(RowNumber row) { is_wanted_.set(row, true); }
    bool is_wanted(RowNumber row) { return is_wanted_[row]; }
    // To be called when the last one is known.
    void ask();
    // Keeps what comes, if it is wanted.
    void add(Datum content);
    // Whether all that are wanted have come.
    bool are_complete() const { return missing_ == 0; }

    // The second argument of the functions of the present pass.
    Datum pass_arguments() const {
        return bytea_of(&arguments_, sizeof(arguments_), std::as_bytes(filter_));
    }

    // ---- contents that have come ----

    // The contents of two documents, until anything else is read from the pool.
    std::array<Hashes, 2> of(RowNumber a, RowNumber b);

  private:
    static constexpr uint64_t kNowhere = UINT64_MAX;       // has not come
    static constexpr uint64_t kWithFirst = UINT64_MAX - 1; // of a row with the same text before it
    static constexpr uint32_t kEmpty = UINT32_MAX;

    // A document that is wanted, and where its content is; of several with the same text, that of
    // the first.
    struct Wanted {
        uint64_t key, position;
        size_t count; // hashes
    };

    // What was copied last, and where from.
    struct Buffer {
        uint64_t position = kNowhere;
        GrowingArray<uint64_t> hashes{server_memory()};
    };

    // A key is a hash. Its leading bits say where its search begins.
    size_t first_slot(uint64_t key) const { return key >> (64 - slot_bits_); }
    size_t next_slot(size_t slot) const { return (slot + 1) & (slots_.size() - 1); }
    uint32_t number_of(uint64_t key);
    Wanted wanted(RowNumber row);
    Hashes hashes_of(const Wanted& document, Buffer* buffer);

    PassArguments arguments_;
    size_t sort_bytes_;
    PagedArray<DigestHeader> headers_;
    PagedBits is_wanted_; // of the rows
    // In the order of their rows. So what a comparison looks up here and there is of the candidates
    // alone, and mostly stays in memory.
    PagedArray<Wanted> wanted_;
    PagedArray<uint32_t> before_;     // of each word of these bits: how many before it are wanted
    PagedArray<uint32_t> slots_;      // a hash table with linear probing: their numbers, or kEmpty
    std::span<const uint8_t> filter_; // of the texts that are wanted
    PagedBytes hashes_;               // of the contents that have come
    Buffer buffers_[2];               // of those that are not in one page in memory
    int slot_bits_ = 0;               // of the number of slots
    uint32_t next_ = 0;               // the number behind that of the last content
    size_t missing_ = 0;              // contents that have not come
};

} // namespace simhash
