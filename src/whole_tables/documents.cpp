// Finds near-duplicates among documents. See the header.
#include "whole_tables/documents.hpp"

#include <algorithm>

#include "server/progress.hpp"
#include "whole_tables/groups.hpp"

namespace simhash {
namespace {

// As 10 documents have. They are sorted in the time in which their lanes are read from a file. The
// pairs of more with the same key are looked at where they meet.
constexpr uint64_t kFewPairs = 45;

constexpr uint32_t kSpread = 0x9E3779B1; // odd, so products of different keys differ

// Two rows that have met in a band, and the lanes of one.
struct Meeting {
    RowNumber place, other;
    DocumentLanes lanes; // of the other
};

} // namespace

Documents::Documents(PagePool* pool, RowIds* ids, double similarity, size_t sort_bytes,
                     size_t met_bytes)
    : SearchedValues(pool, sort_bytes, "an id and a text", "SELECT id, body FROM pages",
                     &contents_),
      ids_(*ids), similarity_(similarity), radius_(near_radius(similarity)),
      plan_(band_plan(similarity)), met_bytes_(met_bytes), contents_(pool, similarity, met_bytes),
      lanes_(pool) {
    order_memory = sort_bytes;
    for (int band = 0; band < plan_.bands; band++)
        keys_[band].emplace(pool);
}

// ---- the first pass ----

void Documents::begin(Oid type, const char* name) {
    if (IsBinaryCoercible(type, TEXTOID))
        passes = &kDocumentPasses;
    else if (is_shingle_set(type))
        passes = &kSetPasses;
    else
        report_type(type, name);
}

// All documents have shingles of one kind.
void Documents::check_kind(ShingleKind kind) {
    if (kind.features > FeatureKind::kOwn)
        report_result();
    if (!kind_)
        kind_ = kind;
    check_comparable(*kind_, kind);
}

void Documents::add(RowNumber, Datum value, bool is_null) {
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
        new_keys_[band][new_rows_] = keys[band];
    if (++new_rows_ == kRowsOfLine)
        add_keys();
}

void Documents::add_keys() {
    for (int band = 0; band < plan_.bands; band++)
        keys_[band]->add_all(std::span(new_keys_[band]).first(new_rows_));
    new_rows_ = 0;
}

void Documents::find_models(size_t rows, Copies* copies, std::optional<Models>* models) {
    add_keys();
    PagedBits is_model(pool_); // of the rows of this query, by places
    auto first = RowNumber(copies->rows());
    for (auto place = first; place < rows; place++) {
        DigestHeader header = contents_.header(place);
        CHECK_FOR_INTERRUPTS();
        // A document without shingles is in no pair.
        is_model.add(header.count > 0);
        if (header.count > 0) {
            auto [lane, other] = lanes_[place];
            add_hash(header.content_hash, ids_.row(place), uint32_t(mix(lane ^ mix(other))));
        }
    }
    copies->add_rows(rows);
    models->emplace(pool_, 0, &ids_);
    // Sums of hashes that differ are equal with a probability of 2^-64, and lanes still less often.
    // They bring rows in any order, and most are models. So we mark those that are copies.
    Progress::begin("found", " distinct documents", 0);
    each_model(
        copies, [](RowNumber, RowNumber) { return true; }, [](const Pair&) { Progress::step(); });
    for (auto row = first; row < rows; row++) {
        CHECK_FOR_INTERRUPTS();
        if (RowNumber copy = copies->after(row); copy != kNoRow)
            is_model.set(ids_.place(copy) - first, false);
    }
    is_model.each_one([&](size_t i) { (*models)->places().add(first + i); });
    is_model.close();
}

// ---- candidates ----

// Calls take(key, place) for the models of one or two sets, with their keys of a band.
void Documents::each_key(Models* a, Models* b, int band, const auto& take) {
    for (Models* models : {a, b}) {
        if (models == nullptr)
            continue;
        PagedArray<uint32_t>::Reader keys(&*keys_[band]);
        models->places().each([&](size_t place) { take(keys[place], RowNumber(place)); });
    }
}

// Sorts the models of one or two sets by their keys of a band, or those of a part. The first part
// deals the others out.
void Documents::sort_keys(Models* a, Models* b, int band, size_t part, PagedParts<uint64_t>* dealt,
                          ExternalSorter<uint64_t>* by_key) {
    by_key->clear();
    if (part == 0)
        each_key(a, b, band, [&](uint32_t key, RowNumber place) {
            // Not by the key's own leading bits: by these the sort deals a part to buckets.
            size_t its_part = uint64_t{key * kSpread} * dealt->count() >> 32;
            uint64_t entry = uint64_t{key} << 32 | place;
            if (its_part == 0)
                by_key->add(entry);
            else
                dealt->add(its_part, entry);
        });
    dealt->each(part, [&](std::span<const uint64_t> entries) { by_key->add_all(entries); });
    dealt->close(part);
    by_key->finish_repeated();
}

// Calls on_group for the models that have a key in common, band after band, until it returns false.
bool Documents::each_group(Models* a, Models* b, const auto& on_group) {
    ExternalSorter<uint64_t> by_key(search_bytes_, 32); // (key, place)
    GrowingArray<Member> members(server_memory());
    // The rows of the second set come after those of the first.
    RowNumber first_of_b = kNoRow;
    if (b != nullptr)
        b->places().each(
            [&](size_t place) { first_of_b = std::min(first_of_b, ids_.row(RowNumber(place))); });
    auto is_first = [&](const Member& member) { return ids_.row(member.place) < first_of_b; };
    bool goes_on = true;
    // A band of more models than memory has room for is dealt to parts, of which the first stays.
    // Keys are hashes, so parts are of about the same size: by this, of 15 / 16 of the room.
    uint64_t count = a->size() + (b == nullptr ? 0 : b->size());
    PagedParts<uint64_t> dealt(pool_, 1 + count / 15 * 16 / by_key.room());
    Progress::begin("bands", "", plan_.bands);
    for (uint64_t i = 0; i < plan_.bands * dealt.count() && goes_on; i++) {
        int band = int(i / dealt.count());
        size_t part = i % dealt.count();
        sort_keys(a, b, band, part, &dealt, &by_key);
        uint64_t entry = 0;
        bool more = by_key.next(&entry);
        while (more && goes_on) {
            CHECK_FOR_INTERRUPTS();
            // Most are alone with their key.
            uint64_t first = entry;
            members.clear();
            while ((more = by_key.next(&entry)) && entry >> 32 == first >> 32) {
                if (members.size() == 0)
                    members.add({RowNumber(first), {}});
                members.add({RowNumber(entry), {}});
            }
            if (members.size() == 0)
                continue;
            Group group = {band, members.all(), {}};
            if (b != nullptr) {
                auto second = std::partition(group.members.begin(), group.members.end(), is_first);
                auto firsts = size_t(second - group.members.begin());
                group.seconds = group.members.subspan(firsts);
                group.members = group.members.first(firsts);
            }
            uint64_t size = group.members.size();
            group.pairs = b == nullptr ? size * (size - 1) / 2 : size * group.seconds.size();
            goes_on = group.pairs == 0 || on_group(group);
        }
        if (part == dealt.count() - 1)
            Progress::long_step();
    }
    for (size_t part = 0; part < dealt.count(); part++)
        dealt.close(part);
    by_key.release();
    members.release();
    return goes_on;
}

void Documents::look_up_lanes(const Group& group) {
    for (std::span<Member> members : {group.members, group.seconds})
        for (Member& member : members)
            member.lanes = lanes_[member.place];
}

// Calls on_pair(a, b) for the pairs of members, until it returns false.
bool Documents::each_pair(const Group& group, const auto& on_pair) {
    for (size_t i = 0; i < group.members.size(); i++) {
        const Member& a = group.members[i];
        CHECK_FOR_INTERRUPTS();
        for (const Member& b : group.seconds.empty() ? group.members.subspan(i + 1) : group.seconds)
            if (!on_pair(a, b))
                return false;
    }
    return true;
}

// Calls on_pair(a, b) for those of which a lane is near, until it returns false.
bool Documents::each_near(const Group& group, const auto& on_pair) {
    look_up_lanes(group);
    return each_pair(group, [&](const Member& a, const Member& b) {
        return nearest_lane(a.lanes, b.lanes) > radius_ || on_pair(a, b);
    });
}

// Whether an earlier band has brought the two together.
bool Documents::met_before(int band, RowNumber place, RowNumber other) {
    while (--band >= 0)
        if ((*keys_[band])[place] == (*keys_[band])[other])
            return true;
    return false;
}

// (later row, earlier row)
uint64_t Documents::candidate_of(RowNumber place, RowNumber other) {
    uint64_t a = ids_.row(place), b = ids_.row(other);
    return std::max(a, b) << 32 | std::min(a, b);
}

// The contents of members that are near to any other are wanted.
void Documents::want_near(const Group& group) {
    auto is_wanted = [&](const Member& member) { return contents_.is_wanted(member.place); };
    if (std::ranges::all_of(group.members, is_wanted))
        return;
    look_up_lanes(group);
    for (const Member& a : group.members) {
        auto is_near = [&](const Member& b) {
            return a.place != b.place && nearest_lane(a.lanes, b.lanes) <= radius_;
        };
        CHECK_FOR_INTERRUPTS();
        if (!is_wanted(a) && std::ranges::any_of(group.members, is_near))
            contents_.want(a.place);
    }
}

// Of the pairs that have met, those of which a lane is near are wanted, and are candidates.
void Documents::look_at_met(Collector* met) {
    // Pairs come in the order of the greater place. To look up the lanes of the lesser one would
    // read a page of a file for each, so pairs are dealt to parts whose lanes fit in half the pool.
    size_t lanes_bytes = lanes_.size() * sizeof(DocumentLanes);
    PagedParts<Meeting> dealt(pool_, 1 + lanes_bytes / (pool_->memory_bytes() / 2));
    auto check = [&](const Meeting& meeting) {
        CHECK_FOR_INTERRUPTS();
        if (nearest_lane(lanes_[meeting.place], meeting.lanes) > radius_)
            return;
        contents_.want(meeting.place);
        contents_.want(meeting.other);
        if (candidates_)
            candidates_->add(candidate_of(meeting.place, meeting.other));
    };
    met->each([&](uint64_t pair) {
        auto place = RowNumber(pair), other = RowNumber(pair >> 32);
        Meeting meeting = {place, other, lanes_[other]};
        if (size_t part = uint64_t{place} * dealt.count() / lanes_.size(); part == 0)
            check(meeting);
        else
            dealt.add(part, meeting);
        return true;
    });
    met->release();
    for (size_t part = 0; part < dealt.count(); part++) {
        dealt.each(part, [&](std::span<const Meeting> meetings) {
            for (const Meeting& meeting : meetings)
                check(meeting);
        });
        dealt.close(part);
    }
}

// Finds the candidates, and what the second pass is to give. Where there are more candidates than
// are worth sorting, they are not kept: groups are then found in parts (groups.cpp), which leave
// most of them out.
void Documents::begin_search(Models* a, Models* b, size_t memory, bool all_pairs) {
    uint64_t near_count = 0;
    bool are_kept = true;
    search_bytes_ = memory;
    Collector met(met_bytes_); // (greater place, lesser place)
    auto meet = [&](const Member& a, const Member& b) {
        met.add(uint64_t{std::max(a.place, b.place)} << 32 | std::min(a.place, b.place));
        return true;
    };
    each_group(a, b, [&](const Group& group) {
        // Similar ones meet in many bands, and the lanes of few are looked up once for all.
        if (group.pairs <= kFewPairs)
            return each_pair(group, meet);
        are_kept =
            are_kept && each_near(group, [&](const Member& of_a, const Member& of_b) {
                meet(of_a, of_b);
                return all_pairs || ++near_count <= few_candidates(a->size(), group.band + 1);
            });
        if (!are_kept)
            want_near(group);
        return true;
    });
    met.finish();
    if (are_kept) {
        candidates_.emplace(search_bytes_);
        for (int band = 0; band < plan_.bands; band++)
            keys_[band]->close();
    } else
        given_up_ = a->size();
    look_at_met(&met);
    if (are_kept) {
        candidates_->finish();
        lanes_.close();
    }
    contents_.ask();
}

// A list of candidates is of all models, so nobody asks for the pairs of some.
bool Documents::find(Models* a, Models* b, const FoundReceiver& receiver) {
    if (candidates_)
        return compare_each(&*candidates_, receiver);
    auto on_pair = [&](RowNumber place, RowNumber other) {
        auto [a, b] = std::minmax({ids_.row(place), ids_.row(other)});
        return compare(a, b, receiver);
    };
    return each_group(a, b, [&](const Group& group) {
        // Two that an earlier band has brought together were compared.
        auto on_near = [&](const Member& a, const Member& b) {
            return met_before(group.band, a.place, b.place) || on_pair(a.place, b.place);
        };
        if (receiver.links == nullptr)
            return each_near(group, on_near);
        std::span<const Member> members = group.members;
        look_up_lanes(group);
        return receiver.links->each_unlinked(
            members.size(), [&](size_t i) { return ids_.row(members[i].place); },
            [&](size_t i, size_t j) {
                return nearest_lane(members[i].lanes, members[j].lanes) > radius_ ||
                       on_near(members[i], members[j]);
            });
    });
}

bool Documents::find_in_order(Models* models, size_t memory, const FoundReceiver& receiver) {
    if (candidates_)
        return compare_each(&*candidates_, receiver);
    if (models->size() == given_up_)
        return false;
    uint64_t count = 0;
    Collector candidates(memory); // (later row, earlier row)
    bool are_few = each_group(models, nullptr, [&](const Group& group) {
        return each_near(group, [&](const Member& a, const Member& b) {
            candidates.add(candidate_of(a.place, b.place));
            return ++count <= few_candidates(models->size(), group.band + 1);
        });
    });
    if (are_few) {
        candidates.finish();
        compare_each(&candidates, receiver);
    } else
        candidates.release();
    return are_few;
}

// ---- pairs ----

// Compares candidates: (later row, earlier row), in order.
bool Documents::compare_each(Collector* candidates, const FoundReceiver& receiver) {
    Progress::begin("compared", " candidates", 0);
    bool goes_on = candidates->each([&](uint64_t candidate) {
        Progress::step();
        return compare(RowNumber(candidate), RowNumber(candidate >> 32), receiver);
    });
    candidates->release();
    return goes_on;
}

// Tells the receiver if the two are a pair. False: it has ended the search.
bool Documents::compare(RowNumber a, RowNumber b, const FoundReceiver& receiver) {
    CHECK_FOR_INTERRUPTS();
    if (!receiver.are_wanted(a, b))
        return true;
    double similarity;
    RowNumber place = ids_.place(a), other = ids_.place(b);
    auto [of_a, of_b] = contents_.of(place, other);
    // This stops as soon as the answer is sure, so the number is computed only for pairs.
    return !is_set_similarity_at_least(of_a, of_b, similarity_) ||
           !set_similarity(of_a, of_b, &similarity) || receiver.take(a, b, similarity);
}

} // namespace simhash
