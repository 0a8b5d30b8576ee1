// Adds up distances. See the header.
#include "index/search/whole_distances.hpp"

#include "core/bits/distances.hpp"
#include "core/bits/sort.hpp"

#include <algorithm>

namespace simhash {
namespace {

constexpr int kTidBits = 48;
static_assert(kMaxTid >> kTidBits == 0);

} // namespace

// Calls visit(TID, distance) for all postings of a lane. It decodes whole leaves: a PostingReader,
// which tests each key, makes an order by distance of codes of 256 bits take 1.6 times as long.
void WholeDistances::visit_postings(size_t lane, const auto& visit) {
    SearchedIndex& index = lanes_[lane].index;
    Entry* postings = index.yield()->postings;
    for (LeafCursor cursor(index.posting_table(), kAllKeys); !cursor.at_end();) {
        CHECK_FOR_INTERRUPTS();
        Entry position = cursor.position();
        LeafReader reader = cursor.lock(index.snapshot);
        int count = reader.decode_packed(postings);
        // Their order does not matter: each posting is added to its own row's sum.
        count += reader.decode_tail(postings + count);
        cursor.go_on();
        cursor.release();
        put_distances({postings, size_t(count)}, centers_[lane], index.yield()->distances);
        for (int i = 0; i < count; i++)
            // An entry before the position is done: the leaf may have taken over the range of an
            // unlinked one. No row has an impossible TID, which a damaged page may hold.
            if (postings[i] >= position && tid_is_possible(postings[i].tid))
                visit(postings[i].tid, index.yield()->distances[i]);
    }
}

// Finds out how many sums there are, and takes memory for them, or for a part.
void WholeDistances::find_extent() {
    blocks_ = offsets_ = 0;
    visit_postings(0, [&](uint64_t tid, int) {
        blocks_ = std::max(blocks_, (tid >> 16) + 1);
        offsets_ = std::max(offsets_, tid & 0xffff);
    });
    // A damaged page may hold TIDs far behind the table's end, where the snapshot sees no row.
    if (Relation heap = lanes_[0].index.heap)
        blocks_ = std::min<uint64_t>(blocks_, RelationGetNumberOfBlocks(heap));
    size_t bytes_of_block = std::max<uint64_t>(offsets_, 1) * sizeof(uint16_t);
    // One block is the least, however little memory there is.
    uint64_t affordable = get_hash_memory_limit() / bytes_of_block;
    part_blocks_ = std::clamp<uint64_t>(affordable, 1, std::max<uint64_t>(blocks_, 1));
    sums_.release();
    sums_.add_room(part_blocks_ * std::max<uint64_t>(offsets_, 1));
    holds_all_ = false;
}

// Adds up the distances of the rows of these blocks.
void WholeDistances::add_up(uint64_t first_block, uint64_t end_block) {
    std::fill_n(sums_.data(), (end_block - first_block) * offsets_, 0);
    for (size_t lane = 0; lane < lanes_.size(); lane++)
        visit_postings(lane, [&](uint64_t tid, int distance) {
            uint64_t block = tid >> 16, offset = tid & 0xffff;
            // Rows that were inserted since find_extent() are none that the snapshot sees.
            if (block < first_block || block >= end_block || offset > offsets_)
                return;
            uint16_t& sum = sums_[(block - first_block) * offsets_ + offset - 1];
            if (lane == 0)
                // The sum is 1 more than the distance, so that 0 stands for no row.
                sum = uint16_t(1 + distance);
            // A row without a posting of the first lane was inserted after that lane's pass, or is
            // dead: the snapshot does not see it.
            else if (sum > 0)
                sum = uint16_t(sum + distance);
        });
}

// Gathers the nearest rows that were not gathered before.
void WholeDistances::gather() {
    // As in gathered_: those after `last_` up to `farthest` are worth keeping.
    uint64_t farthest = uint64_t(greatest_ + 1) << kTidBits;
    gathered_.clear();
    taken_ = 0;
    auto keep_wanted = [&] {
        sort_ascending(gathered_.data(), gathered_.end());
        if (gathered_.size() <= wanted_)
            return;
        gathered_.cut_to(gathered_.data() + wanted_);
        farthest = gathered_[wanted_ - 1];
    };
    for (uint64_t first = 0; first < blocks_; first += part_blocks_) {
        uint64_t end = std::min(first + part_blocks_, blocks_);
        // The sums of the only part stay for all calls.
        if (!holds_all_)
            add_up(first, end);
        holds_all_ = part_blocks_ >= blocks_;
        for (uint64_t block = first; block < end; block++) {
            CHECK_FOR_INTERRUPTS();
            for (uint64_t offset = 1; offset <= offsets_; offset++) {
                uint64_t sum = sums_[(block - first) * offsets_ + offset - 1];
                uint64_t tid = block << 16 | offset, row = (sum - 1) << kTidBits | tid;
                if (sum == 0 || row <= last_ || row > farthest || seen_->contains(tid))
                    continue;
                gathered_.add(row);
                if (gathered_.size() >= 2 * wanted_)
                    keep_wanted();
            }
        }
    }
    keep_wanted();
    has_more_ = gathered_.size() == wanted_;
    if (has_more_)
        last_ = gathered_.all().back();
    // Who asks for more will often ask for many more; each call is a pass.
    size_t affordable = size_t(work_mem) * 1024 / sizeof(uint64_t) / 2;
    wanted_ = std::min(wanted_ * kGrowth, std::max(affordable, kFirstRows));
}

void WholeDistances::start(std::span<const uint64_t> centers, int greatest, const SeenRows* seen) {
    centers_ = centers;
    greatest_ = greatest;
    seen_ = seen;
    last_ = 0;
    has_more_ = true;
    wanted_ = kFirstRows;
    gathered_.clear();
    taken_ = 0;
    find_extent();
}

std::span<const uint64_t> WholeDistances::next() {
    if (taken_ == gathered_.size() && has_more_)
        gather();
    if (taken_ == gathered_.size())
        return {};
    std::span rows(gathered_.data() + taken_, std::min(gathered_.size() - taken_, kMostRows));
    distance_ = int(rows[0] >> kTidBits);
    size_t count = 0;
    for (; count < rows.size() && int(rows[count] >> kTidBits) == distance_; count++)
        rows[count] &= kMaxTid;
    taken_ += count;
    return rows.first(count);
}

} // namespace simhash
