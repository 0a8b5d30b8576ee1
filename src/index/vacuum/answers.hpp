// VACUUM asks the leaves of a posting table which of the fingerprints that lost a posting have none
// left. This file keeps their answers. README.md, "Vacuum", says how long an answer holds.
//
// Without them each fingerprint takes a descent for each block table, under the lock of a leaf: of
// 1 million rows VACUUM took 1.0 s where every second one was dead, 3.0 s without answers; .6 and
// 1.0 s where every tenth was.
#pragma once

#include "index/store/tree.hpp"
#include "server/arguments.hpp"

namespace simhash {

// The answer of one leaf: as long as the leaf has this LSN, no remembered fingerprint from `first`
// to `last` has a posting.
struct Answer {
    uint64_t first, last;
    XLogRecPtr lsn;
    BlockNumber block;
    Buffer buffer; // the shared buffer that held the leaf then
};

class Answers {
  public:
    // There is one answer slot for 32 remembered fingerprints, because many of them share a leaf.
    static constexpr size_t kSharingLeaf = 32;
    // Bytes that the answers take for each fingerprint. There are two arrays: the answers for the
    // last table are the first guess for the next one.
    static constexpr size_t kBytesEach = 2 * sizeof(Answer) / kSharingLeaf;

    explicit Answers(size_t most)
        : answers_(server_memory()), earlier_(server_memory()), most_(most) {}
    // Asks this posting table from now on. Expects that there is no answer of another one.
    void set_posting_table(const TreeContext& postings) {
        Assert(is_empty());
        postings_ = postings;
    }
    // Drops all answers and makes room for answers about `count` fingerprints.
    void begin(size_t count);
    void free() {
        answers_.release();
        earlier_.release();
    }

    // Asks for ascending, distinct fingerprints. Keeps those without a posting at the front of the
    // array, in order, and returns their number. The next call takes the fingerprints that this one
    // kept, or, after forget(), any others. Expects no lock.
    size_t keep_absent(uint64_t* fingerprints, size_t count);
    void forget() { answers_.clear(); }
    bool is_empty() const { return answers_.size() == 0; }

    // True when a fingerprint, mostly one that keep_absent() kept, has no posting now. The caller
    // may hold the lock of a leaf of a block table: the posting table comes later in the order of
    // locks (rule 3).
    bool still_absent(uint64_t fingerprint);
    // Counts how often still_absent() had to descend, or found the leaf in another buffer.
    size_t searches() const { return searches_; }

  private:
    void put(const Answer& answer);
    bool holds(const Answer& answer);
    size_t ask_leaf(const uint64_t* fingerprints, size_t count, uint64_t* kept, size_t* kept_count);

    TreeContext postings_;
    GrowingArray<Answer> answers_; // ascending; of the last call of keep_absent()
    GrowingArray<Answer> earlier_; // of the call before
    size_t most_, limit_ = 0;      // of them, in any case and of those asked for
    size_t searches_ = 0;
};

} // namespace simhash
