// Finds near-duplicates among documents. See the header.
#include "whole_tables/documents.hpp"

#include <algorithm>

#include "server/progress.hpp"
#include "whole_tables/groups.hpp"

namespace simhash {
namespace {

// Where more documents were looked at for one, or candidates meet more often than few would,
// the candidates are not kept, and found again in smaller parts, in which most are left out.
constexpr uint64_t kLooksOfModel = 4096;

} // namespace

Documents::Documents(PagePool* pool, double similarity, size_t sort_bytes, size_t candidate_bytes)
    : SearchedValues(pool, sort_bytes, "an id and a text", "SELECT id, body FROM pages"),
      similarity_(similarity), radius_(near_radius(similarity)), plan_(band_plan(similarity)),
      candidate_bytes_(candidate_bytes), contents_(pool, similarity), lanes_(pool),
      buffer_of_a_(server_memory()), buffer_of_b_(server_memory()) {
    for (int band = 0; band < plan_.bands; band++)
        keys_[band].emplace(pool);
}

// ---- the first pass ----

void Documents::begin(const Column& column) {
    if (IsBinaryCoercible(column.type, TEXTOID))
        passes_ = &kDocumentPasses;
    else if (is_shingle_set(column.type))
        passes_ = &kSetPasses;
    else
        report_type(column, Wanted::kDocuments);
}

// All documents have shingles of one kind.
void Documents::check_kind(ShingleKind kind) {
    if (kind.features > FeatureKind::kOwn)
        report_result();
    if (!kind_)
        kind_ = kind;
    check_comparable(*kind_, kind);
}

void Documents::add(RowNumber row, Datum value, bool is_null) {
    DocumentDigest digest = {};
    uint32_t keys[kMinimaOfDocument] = {};
    if (!is_null) {
        PassResult<DocumentDigest, uint32_t> result(value, size_t(plan_.bands));
        digest = result.header;
        check_kind(digest.kind);
        memcpy(keys, result.rest, result.rest_bytes);
    }
    contents_.add_row(digest.header);
    lanes_.add(digest.lanes);
    for (int band = 0; band < plan_.bands; band++)
        keys_[band]->add(keys[band]);
    // A document without shingles is in no pair.
    if (digest.header.count > 0)
        add_hash(digest.header.content_hash, row);
}

// Sums of hashes that differ are equal with a probability of 2^-64, and then lanes as good as never.
bool Documents::are_equal(RowNumber a, RowNumber b) {
    return contents_.header(a).count == contents_.header(b).count && lanes_[a] == lanes_[b];
}

// ---- candidates ----

// Calls on_group for the models that have a key in common, band after band, until it returns false.
bool Documents::each_group(Models* a, Models* b, size_t memory, const auto& on_group) {
    ExternalSorter<uint64_t> by_key(memory, 32); // (key, row)
    GrowingArray<Member> members(server_memory());
    // The rows of the second set are behind those of the first.
    RowNumber first_of_b = b == nullptr || b->size() == 0 ? kNoRow : b->rows()[0];
    bool goes_on = true;
    Progress::begin("bands", "", plan_.bands);
    for (int band = 0; band < plan_.bands && goes_on; band++) {
        for (Models* models : {a, b})
            for (size_t i = 0; models != nullptr && i < models->size(); i++) {
                RowNumber row = models->rows()[i];
                by_key.add(uint64_t{(*keys_[band])[row]} << 32 | row);
            }
        by_key.finish();
        uint64_t entry = 0, key;
        bool more = by_key.next(&entry);
        while (more && goes_on) {
            CHECK_FOR_INTERRUPTS();
            members.clear();
            // Most are alone with their key.
            uint64_t alone = entry;
            key = entry >> 32;
            for (more = by_key.next(&entry); more && entry >> 32 == key;
                 more = by_key.next(&entry)) {
                if (members.size() == 0)
                    members.add({RowNumber(alone), kNoRow, lanes_[RowNumber(alone)]});
                members.add({RowNumber(entry), kNoRow, lanes_[RowNumber(entry)]});
            }
            if (members.size() == 0)
                continue;
            Group group = {band, {members.data(), members.size()}, {}, 0};
            size_t firsts = size_t(
                std::count_if(group.members.begin(), group.members.end(),
                              [&](const Member& member) { return member.row < first_of_b; }));
            if (b == nullptr) {
                group.pairs = uint64_t(members.size()) * (members.size() - 1) / 2;
            } else {
                group.seconds = group.members.subspan(firsts);
                group.members = group.members.first(firsts);
                group.pairs = uint64_t(firsts) * group.seconds.size();
            }
            goes_on = group.pairs == 0 || on_group(group);
        }
        by_key.clear();
        Progress::long_step();
    }
    by_key.release();
    members.release();
    return goes_on;
}

// Calls on_pair(a, b) for those of which a lane is near, until it returns false.
bool Documents::each_near(const Group& group, const auto& on_pair) const {
    for (size_t i = 0; i < group.members.size(); i++) {
        const Member& a = group.members[i];
        CHECK_FOR_INTERRUPTS();
        for (const Member& b : group.seconds.empty() ? group.members.subspan(i + 1) : group.seconds)
            if (nearest_lane(a.lanes, b.lanes) <= radius_ && !on_pair(a.row, b.row))
                return false;
    }
    return true;
}

// Whether an earlier band has brought the two together.
bool Documents::met_before(int band, RowNumber a, RowNumber b) {
    while (--band >= 0)
        if ((*keys_[band])[a] == (*keys_[band])[b])
            return true;
    return false;
}

// Finds the candidates, and what the second pass is to give.
void Documents::begin_search(Models* a, Models* b, size_t memory, bool all_pairs) {
    uint64_t models = a->size() + (b == nullptr ? 0 : b->size());
    uint64_t looks_left = all_pairs ? UINT64_MAX : kLooksOfModel * models;
    // Similar documents meet in many bands.
    uint64_t meetings_left =
        all_pairs ? UINT64_MAX : few_candidates(models) * uint64_t(plan_.bands);
    first_ = a;
    second_ = b;
    candidates_.emplace(candidate_bytes_);
    each_group(a, b, memory, [&](const Group& group) {
        if (group.pairs > looks_left) {
            // Without a look at each pair, all of a large group count as candidates.
            looks_left = meetings_left = 0;
            for (std::span<const Member> members :
                 {std::span<const Member>(group.members), group.seconds})
                for (const Member& member : members)
                    contents_.want(member.row);
            return true;
        }
        looks_left -= group.pairs;
        return each_near(group, [&](RowNumber of_a, RowNumber of_b) {
            contents_.want(of_a);
            contents_.want(of_b);
            if (meetings_left > 0) {
                candidates_->add(uint64_t{of_a} << 32 | of_b);
                meetings_left--;
            }
            return true;
        });
    });
    if (meetings_left == 0) {
        candidates_->release();
        candidates_.reset();
    } else {
        candidates_->finish();
        for (int band = 0; band < plan_.bands; band++)
            keys_[band]->close();
        lanes_.close();
    }
    contents_.ask();
}

bool Documents::find_candidates(int, Models* a, Models* b, size_t memory,
                                const CandidateReceiver& receiver, Links* links) {
    if (candidates_ && a == first_ && b == second_)
        return candidates_->each([&](uint64_t candidate) {
            return receiver(RowNumber(candidate >> 32), RowNumber(candidate), 0);
        });
    Assert(!candidates_); // few are searched as a whole, and the bands are closed
    GrowingArray<uint32_t> others(server_memory());
    bool goes_on = each_group(a, b, memory, [&](const Group& group) {
        if (links != nullptr)
            return link(group, links, &others, receiver);
        return each_near(group, [&](RowNumber of_a, RowNumber of_b) {
            return met_before(group.band, of_a, of_b) || receiver(of_a, of_b, 0);
        });
    });
    others.release();
    return goes_on;
}

// Gives the candidates of a group that are not linked, while the receiver links some. In the order
// of what they are linked with, one list of the members that are not linked with the present one
// serves for all of a kind: most groups are of copies, which are all linked after the first.
bool Documents::link(const Group& group, Links* links, GrowingArray<uint32_t>* others,
                     const CandidateReceiver& receiver) const {
    std::span<Member> members = group.members;
    for (Member& member : members)
        member.original = links->original_of(member.row);
    sort_ascending(members.begin(), members.end());
    for (size_t i = 0; i < members.size(); i++) {
        const Member& member = members[i];
        CHECK_FOR_INTERRUPTS();
        if (i == 0 || member.original != members[i - 1].original) {
            others->clear();
            for (size_t j = i + 1; j < members.size(); j++)
                if (members[j].original != member.original)
                    others->add(uint32_t(j));
        }
        size_t left = 0;
        for (uint32_t j : others->all()) {
            const Member& other = members[j];
            if (links->original_of(member.row) == links->original_of(other.row))
                continue;
            (*others)[left++] = j;
            if (nearest_lane(member.lanes, other.lanes) <= radius_ &&
                !receiver(std::min(member.row, other.row), std::max(member.row, other.row), 0))
                return false;
        }
        others->clear();
        others->added(left);
    }
    return true;
}

// ---- pairs ----

bool Documents::is_pair(int, RowNumber a, RowNumber b, double* similarity) {
    CHECK_FOR_INTERRUPTS();
    // Of many candidates one is compared with the others one after the other.
    if (a != last_a_) {
        set_of_a_ = contents_.read(a, &buffer_of_a_);
        last_a_ = a;
    }
    std::span<const uint64_t> set_of_b = contents_.read(b, &buffer_of_b_);
    // This stops as soon as the answer is sure, so the number is computed only for pairs.
    return is_set_similarity_at_least(set_of_a_, set_of_b, similarity_) &&
           set_similarity(set_of_a_, set_of_b, similarity);
}

} // namespace simhash
