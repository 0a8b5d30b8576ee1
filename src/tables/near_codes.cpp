// See near_codes.hpp.
#include "tables/near_codes.hpp"

namespace simhash {
namespace {

int any_length(const CodeSet* a, const CodeSet* b) {
    return b == nullptr ? a->bits() : std::max(a->bits(), b->bits());
}

// The last number is left out, as the count itself must have 32 bits.
void check_count(size_t codes) {
    if (codes == UINT32_MAX)
        ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                        errmsg("too many bit strings to search for near pairs"),
                        errdetail("The limit is %u.", UINT32_MAX)));
}

} // namespace

NearCodes::NearCodes(CodeSet* a, CodeSet* b, bool unowned_files)
    : bits_(any_length(a, b)), lanes_(lane_count_of_bits(bits_)), between_(b != nullptr),
      pool_(CurrentMemoryContext, share(bytes_of_pages(lanes_), lanes_), unowned_files),
      sets_{{{&pool_, lanes_}, PagedArray<Entry>(&pool_), {}, {}},
            {{&pool_, lanes_}, PagedArray<Entry>(&pool_), {}, {}}},
      // A part takes an eighth of the pool, so the parts of both codes of a candidate fit together
      // with the next ones.
      part_codes_(pool_.memory_bytes() / 8 / bytes_of_pages(lanes_) + 1),
      candidates_(memory_to_sort(lanes_) / 2) {
    if (unowned_files) // the set is loaded when the files are sure to be closed
        return;
    load(a, nullptr, &sets_[0]);
    if (between_)
        load(b, nullptr, &sets_[1]);
}

NearCodes::NearCodes(CodeSet* set, ExternalSorter<Entry>* rows) : NearCodes(set, nullptr, true) {
    releasing_ = {[](void* codes) { static_cast<NearCodes*>(codes)->release(); }, this, nullptr};
    // This comes before load() makes the first file: an error there must find the callback.
    MemoryContextRegisterResetCallback(CurrentMemoryContext, &releasing_);
    load(set, rows, &sets_[0]);
}

void NearCodes::load(CodeSet* from, ExternalSorter<Entry>* rows, Set* to) {
    uint64_t last[kMaxCodeLanes];
    if (from->bits() == 0)
        return;
    RecordSorter& sorter = from->sorter();
    sorter.finish();
    // The sorter gives distinct records. With rows, a code comes once for each row, one after
    // another: it gets one number, and each row gets that.
    while (const uint64_t* record = sorter.next()) {
        CHECK_FOR_INTERRUPTS();
        if (to->codes.size() == 0 || !std::equal(last, last + lanes_, record)) {
            check_count(to->codes.size());
            to->codes.add(record);
            std::copy_n(record, lanes_, last);
        }
        if (rows != nullptr)
            rows->add({record[lanes_], to->codes.size() - 1});
    }
    from->release();
}

void NearCodes::search(int32 radius, const PairReceiver& receiver) {
    NearCodesSearch(this, lanes_, radius, receiver, kPause).run();
    // The order by the last lane is of no use any more, but the codes are: the caller asks for them
    // by number.
    for (int set = 0; set < set_count(); set++) {
        sets_[set].places.close();
        sets_[set].directory.release();
    }
    candidates_.release();
}

void NearCodes::begin_lane(int lane) {
    for (int set = 0; set < set_count(); set++)
        order_by(lane, &sets_[set]);
    has_file_ = sets_[0].codes.has_file() || sets_[1].codes.has_file();
}

void NearCodes::order_by(int lane, Set* set) {
    uint64_t code[kMaxCodeLanes];
    // It sorts the pairs (lane, number) of all codes.
    ExternalSorter<Entry> sorter(memory_to_sort(lanes_));
    set->places.close();
    for (size_t i = 0; i < set->codes.size(); i++) {
        CHECK_FOR_INTERRUPTS();
        set->codes.read(i, code);
        sorter.add({code[lane], i});
    }
    sorter.finish();
    set->lanes.emplace(
        Collector::within(CurrentMemoryContext, share(kBytesOfSearch, lanes_) / set_count()));
    uint64_t last = 0;
    for (Entry entry{}; sorter.next(&entry); last = entry.key) {
        CHECK_FOR_INTERRUPTS();
        // The search of lanes wants each lane once, however many codes have it.
        if (set->places.size() == 0 || entry.key != last)
            set->lanes->add(entry.key);
        set->places.add(entry);
    }
    sorter.release();
    set->lanes->finish();
    set->directory.release();
    set->directory.make(set->places.size(), share(sizeof(uint32_t), lanes_),
                        [&](size_t i) { return set->places[i].key; });
}

void NearCodes::find_pairs(int radius, const PairReceiver& receiver) {
    simhash::find_pairs(&*sets_[0].lanes, between_ ? &*sets_[1].lanes : nullptr, radius, receiver);
}

Datum NearCodes::code(int set, size_t number) {
    uint64_t lanes[kMaxCodeLanes];
    read(set, number, lanes);
    return code_datum(lanes, bits_);
}

// Between two sets, b is a number of the second.
int NearCodes::distance(size_t a, size_t b) {
    uint64_t of_a[kMaxCodeLanes], of_b[kMaxCodeLanes];
    int distance = 0;
    read(0, a, of_a);
    read(between_ ? 1 : 0, b, of_b);
    for (int lane = 0; lane < lanes_; lane++)
        distance += hamming_distance(of_a[lane], of_b[lane]);
    return distance;
}

void NearCodes::release() {
    for (Set& set : sets_) {
        set.codes.close();
        set.places.close();
    }
}

} // namespace simhash
