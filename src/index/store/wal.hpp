// Appends to the tails of leaves, as WAL records built by hand.
#pragma once

#include "index/store/page.hpp"

namespace simhash {

struct LeafAppend {
    Buffer buffer; // exclusively locked, with room for the entry
    LeafKind kind;
    Entry entry;
};
constexpr int kMaxAppends = MAX_GENERIC_XLOG_PAGES; // replay's limit on pages of one record
// Appends the entries to the tails of their leaves, as one atomic WAL record. The leaves stay
// locked and pinned.
void append_to_tails(Relation index, const LeafAppend* appends, int count);

} // namespace simhash
