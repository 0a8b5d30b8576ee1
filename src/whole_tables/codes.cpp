// Reads and compares codes. See the header.
#include "whole_tables/codes.hpp"

#include "core/text/feature_hash.hpp"
#include "server/progress.hpp"
#include "values/code/code.hpp"
#include "whole_tables/near_lanes.hpp"

namespace simhash {
namespace {

[[noreturn]] void report_lengths(int a, int b) {
    ereport(ERROR, errcode(ERRCODE_STRING_DATA_LENGTH_MISMATCH),
            errmsg("cannot search bit strings of different sizes for near pairs"),
            errdetail("The sizes are %d and %d bits.", a, b),
            errhint("Cast all to one type, such as bit(%d).", std::max(a, b)));
}

void check_length(int bits) {
    if (bits < 1 || bits > kMaxCodeBits)
        ereport(ERROR, errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                errmsg("cannot search bit strings of this size for near pairs"),
                errdetail("The size is %d bits.", bits),
                errhint("Use bit strings of 1 to %d bits.", kMaxCodeBits));
}

} // namespace

NearFilter::NearFilter(MemoryContext context, Models::List* first, int radius, size_t memory)
    : context_(context), radius_(radius), first_(array_of(first->size())),
      most_(std::min((memory - first->size() * kBytesOfFirst) / kBytesOfWaiting,
                     std::max(kLeastBatch, kBatchPerFirst * first->size()))),
      batch_(array_of(most_)), waiting_(allocate_array<Pair>(server_memory(context_), most_)),
      mark_bits_(int(std::bit_width(most_))),
      marks_(allocate_array<bool>(server_memory(context_), size_t{1} << mark_bits_)) {
    for (; first_.count < first->size(); first_.count++) {
        CHECK_FOR_INTERRUPTS();
        first_.fingerprints[first_.count] = (*first)[first_.count].first;
    }
}

void NearFilter::find_near() {
    auto mark = [&](uint64_t, uint64_t of_second) { return mark_of(of_second) = true; };
    std::fill_n(marks_, size_t{1} << mark_bits_, false);
    for (batch_.count = 0; batch_.count < count_; batch_.count++)
        batch_.fingerprints[batch_.count] = waiting_[batch_.count].first;
    if (first_.count > 0 && count_ > 0)
        NearPairsSearch(true, radius_, {mark}, kPause).search({first_, batch_}, false);
}

void Codes::begin(Oid type, const char* name) {
    Oid base_type = getBaseType(type);
    bool are_codes = base_type == BITOID || base_type == VARBITOID;
    if (base_type != INT8OID && !are_codes)
        report_type(type, name);
    if (is_type_known_ && are_codes != are_codes_)
        ereport(ERROR, errcode(ERRCODE_DATATYPE_MISMATCH),
                errmsg("queries must both return fingerprints, or both codes"));
    is_type_known_ = true;
    are_codes_ = are_codes;
    // The lanes of codes are sorted beside their hashes.
    if (are_codes)
        hashes_ = ExternalSorter<Pair>(sort_bytes_ / 2);
    check_radius(radius_, are_codes ? kMaxCodeBits : kFingerprintBits);
}

void Codes::add(RowNumber row, Datum value, bool is_null) {
    if (is_null)
        return;
    if (!are_codes_)
        return add_lane(to_ordered(DatumGetInt64(value)), row);
    Code code = datum_get_code(value);
    // The first code sets the length for all.
    if (bits_ == 0)
        check_length(bits_ = code.bit_count);
    else if (code.bit_count != bits_)
        report_lengths(bits_, code.bit_count);
    uint64_t lanes[kMaxCodeLanes];
    lanes_of_code(code, lanes);
    if (bits_ <= kFingerprintBits)
        return add_lane(lanes[0], row);
    constexpr uint64_t kNull[kMaxCodeLanes] = {};
    while (codes_.size() < row * bytes())
        codes_.append(kNull, bytes());
    codes_.append(lanes, bytes());
    add_hash(XXH3_64bits(lanes, bytes()), row);
}

// ---- the second of two queries ----

// The second query may have few rows, so the filter waits for as many as the first one has.
void Codes::begin_second(Models* a) {
    size_t half = sort_bytes_ / 2;
    if (lanes() > 1 || !NearFilter::fits(a->size(), half))
        return;
    first_ = &a->list(0);
    unfiltered_ = a->size();
    sort_bytes_ -= half;
    hashes_ = ExternalSorter<Pair>(sort_bytes_);
}

void Codes::add_lane(uint64_t lane, RowNumber row) {
    if (first_ != nullptr && !filter_ && unfiltered_-- == 0)
        filter_.emplace(AllocSetContextCreate(context_, "simhash filter", ALLOCSET_DEFAULT_SIZES),
                        first_, radius_, sort_bytes_);
    if (!filter_)
        add_hash(lane, row);
    else if (!filter_->add(lane, row))
        add_near(false);
}

void Codes::end_second() {
    if (filter_)
        add_near(true);
}

// Where half of a batch is near, the filter costs more than it saves.
void Codes::add_near(bool is_last) {
    auto add = [&](uint64_t lane, RowNumber row) { add_hash(lane, row); };
    if (filter_->take_near(add) <= .5 && !is_last)
        return;
    filter_->release();
    filter_.reset();
    first_ = nullptr;
}

// ---- models ----

void Codes::find_models(size_t rows, Copies* copies, std::optional<Models>* models) {
    copies->add_rows(rows);
    models->emplace(pool_, lanes());
    // The hash of a value of one lane is that lane.
    if (lanes() == 1)
        return each_model(
            copies, [](RowNumber, RowNumber) { return true; },
            [&](Pair model) { (*models)->list(0).add(model); });
    std::optional<ExternalSorter<Pair>> by_lane[kMaxCodeLanes]; // (lane, row)
    uint64_t of_a[kMaxCodeLanes], of_b[kMaxCodeLanes];
    for (int lane = 0; lane < lanes(); lane++)
        by_lane[lane].emplace(sort_bytes_ / 2 / size_t(lanes()));
    auto are_equal = [&](RowNumber a, RowNumber b) {
        get_lanes(a, of_a);
        get_lanes(b, of_b);
        return std::equal(of_a, of_a + lanes(), of_b);
    };
    each_model(copies, are_equal, [&](Pair model) {
        get_lanes(RowNumber(model.second), of_a);
        for (int lane = 0; lane < lanes(); lane++)
            by_lane[lane]->add({of_a[lane], model.second});
    });
    for (int lane = 0; lane < lanes(); lane++) {
        by_lane[lane]->finish();
        for (Pair model{}; by_lane[lane]->next(&model);) {
            CHECK_FOR_INTERRUPTS();
            (*models)->list(lane).add(model);
        }
        by_lane[lane]->release();
    }
}

// ---- pairs ----

void Codes::begin_search(Models*, Models*, size_t memory, bool) {
    search_bytes_ = lanes() == 1 ? memory : memory / 3 * 2;
    waiting_.emplace(memory / 3);
}

bool Codes::find(Models* a, Models* b, const FoundReceiver& receiver) {
    bool goes_on = true;
    // A first query without codes left one empty list: the second one told the number of lanes.
    for (int lane = 0; lane < a->lanes() && goes_on; lane++) {
        auto receive = [&](RowNumber of_a, RowNumber of_b, int distance) {
            if (!codes_.has_file())
                return compare(lane, of_a, of_b, distance, receiver);
            if (waiting_->is_full() && !compare_waiting(lane, receiver))
                return false;
            if (receiver.are_wanted(of_a, of_b))
                waiting_->add({part_of(of_a) << 32 | part_of(of_b), uint64_t{of_a} << 32 | of_b});
            return true;
        };
        goes_on =
            find_near_lanes(&a->list(lane), b == nullptr ? nullptr : &b->list(lane), radius(lane),
                            search_bytes_, receive, receiver.links, lanes() == 1) &&
            compare_waiting(lane, receiver);
    }
    waiting_->release();
    return goes_on;
}

// Whole values are compared as they are found: that costs less than to sort them.
bool Codes::find_in_order(Models* models, size_t memory, const FoundReceiver& receiver) {
    uint64_t left = few_candidates(models->size(), 1);
    ExternalSorter<Pair> pairs(memory); // (later and earlier row, distance)
    auto add = [&](RowNumber a, RowNumber b, double distance) {
        pairs.add({uint64_t{b} << 32 | a, uint64_t(distance)});
        return left-- > 0;
    };
    bool are_few = find(models, nullptr, {add});
    if (are_few) {
        pairs.finish();
        for (Pair pair{}; pairs.next(&pair);) {
            auto later = RowNumber(pair.first >> 32), earlier = RowNumber(pair.first);
            CHECK_FOR_INTERRUPTS();
            if (receiver.are_wanted(earlier, later))
                receiver.take(earlier, later, double(pair.second));
        }
    }
    pairs.release();
    return are_few;
}

bool Codes::compare_waiting(int lane, const FoundReceiver& receiver) {
    bool goes_on = true;
    // Fingerprints never wait. So those of simhash_cluster, in a call's query, are no step of the
    // call.
    if (waiting_->count() == 0)
        return true;
    waiting_->sort();
    Progress::begin("compared", " candidates", double(waiting_->count()));
    for (const Pair& candidate : waiting_->entries()) {
        CHECK_FOR_INTERRUPTS();
        Progress::step();
        goes_on = compare(lane, RowNumber(candidate.second >> 32), RowNumber(candidate.second), 0,
                          receiver);
        if (!goes_on)
            break;
    }
    waiting_->clear();
    return goes_on;
}

// Tells the receiver of a candidate if it is a pair, and no earlier lane was near: so a pair is
// taken by the first one that is. Between values of one lane the distance is known. False: the
// receiver has ended the search.
bool Codes::compare(int lane, RowNumber a, RowNumber b, int distance,
                    const FoundReceiver& receiver) {
    uint64_t of_b[kMaxCodeLanes];
    int bits = 0;
    if (!receiver.are_wanted(a, b))
        return true;
    if (lanes() == 1)
        return receiver.take(a, b, distance);
    // Of many that have a lane, one is compared with the others one after the other.
    if (a != last_row_)
        get_lanes(last_row_ = a, of_last_row_);
    get_lanes(b, of_b);
    for (int i = 0; i < lanes(); i++) {
        int of_lane = hamming_distance(of_last_row_[i], of_b[i]);
        bits += of_lane;
        if (bits > radius_ || (i < lane && of_lane <= radius(i)))
            return true;
    }
    return receiver.take(a, b, bits);
}

} // namespace simhash
