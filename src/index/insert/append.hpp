// Appends to the tails of leaves.
#pragma once

#include "index/store/page.hpp"

namespace simhash {

struct LeafAppend {
    Buffer buffer; // exclusively locked, with room for the entry
    LeafKind kind;
    Entry entry;
};
constexpr int kMaxAppends = MAX_GENERIC_XLOG_PAGES; // generic_redo() takes no more pages a record
// Appends the entries to the tails of their leaves, as one atomic WAL record. The caller has locked
// the leaves in the order of rule 3, and releases them.
void append_to_tails(Relation index, const LeafAppend* appends, int count);

} // namespace simhash
