// libFuzzer: any bytes as the metapage of an index, any storage parameters and any answer of its
// operator class. What is read as a layout can be searched, and a layout is read as it was written.
#include "server_stubs.hpp"

#include "core/bits/code_lanes.hpp"
#include "core/layout/probe_plan.hpp"
#include "index/scope.hpp"
#include "index/store/page.hpp"

#include <algorithm>
#include <numeric>

using namespace simhash;

namespace {

// The beginning of an input. A part of the page's bytes follows.
struct Described {
    // Storage parameters, which the server has not checked yet.
    int32 radius, tables;
    // What the operator class answers to kLaneLayout.
    int32 numbers[4];
    uint8 number_count;
    bool is_null : 1, has_answer : 1;
    bool computes_lanes : 1; // by the operator class of the first column
    uint8 scope_columns;
    uint8 radius_of_plan;
};
static_assert(sizeof(Described) == 28);

// Those parts of the page that are read: header, beginning of the content, special space.
constexpr size_t kReadContent = MAXALIGN(SizeOfPageHeaderData) + sizeof(MetaPage) + 16;
constexpr size_t kSpecial = MAXALIGN(sizeof(PageOpaque));
constexpr size_t kInputSize = sizeof(Described) + kReadContent + kSpecial;

alignas(8) char page[BLCKSZ]; // the buffer with the metapage
Described described;          // of the present input

// ---- the index of the present input ----

constexpr Oid kSupportFunction = 1;

struct FakeIndex {
    RelationData relation{};
    FormData_pg_class table{};
    SMgrRelationData storage{};
    alignas(8) char index[sizeof(FormData_pg_index)] = {};
    alignas(8) char columns[sizeof(TupleDescData) + sizeof(FormData_pg_attribute)] = {};
    Oid types[1], families[1] = {};
    Options options{};

    FakeIndex() {
        relation.rd_rel = &table;
        relation.rd_index = reinterpret_cast<Form_pg_index>(index);
        relation.rd_smgr = &storage;
        relation.rd_att = reinterpret_cast<TupleDesc>(columns);
        relation.rd_opcintype = types;
        relation.rd_opfamily = families;
        relation.rd_options = reinterpret_cast<bytea*>(&options);
        types[0] = described.computes_lanes ? TEXTOID : INT8OID;
        relation.rd_index->indnkeyatts = int16(1 + described.scope_columns % INDEX_MAX_KEYS);
        storage.smgr_cached_nblocks[MAIN_FORKNUM] = 1;
        // Within the bounds of define_options(), or the default.
        auto bounded = [](int value, int low, int high, int otherwise) {
            return value < low || value > high ? otherwise : value;
        };
        options.radius = bounded(described.radius, 0, kMaxLayoutRadius, -1);
        options.tables = bounded(described.tables, 1, kMaxTables, -1);
    }
};

// Support function kLaneLayout of the operator class.
Datum answer(PG_FUNCTION_ARGS) {
    if (described.is_null)
        PG_RETURN_NULL();
    int count = described.number_count % (std::size(described.numbers) + 1);
    size_t bytes = ARR_OVERHEAD_NONULLS(1) + size_t(count) * sizeof(int32);
    auto* array = static_cast<ArrayType*>(palloc0(bytes));
    SET_VARSIZE(array, bytes);
    array->ndim = 1;
    array->elemtype = INT4OID;
    *ARR_DIMS(array) = count;
    memcpy(ARR_DATA_PTR(array), described.numbers, size_t(count) * sizeof(int32));
    PG_RETURN_ARRAYTYPE_P(array);
}

// ---- what holds of every layout ----

void check_plan(const Layout& layout, int radius) {
    ProbePlan plan = make_probe_plan(layout, radius, 1e6, kTypicalProbeCosts);
    require(plan.probe_count >= 0 && plan.probe_count <= layout.table_count);
    for (const Probe& probe : std::span(plan.probes, size_t(plan.probe_count)))
        require(probe.table >= 0 && probe.table < layout.table_count && probe.prefix_bits >= 1 &&
                probe.threshold >= 0 && probe.slice_bits >= 0 &&
                probe.prefix_bits + probe.slice_bits <= kFingerprintBits);
}

void check_layout(const Layout& layout) {
    require(layout.table_count >= 1 && layout.table_count <= kMaxTables);
    require(layout.lane_count >= 1 && layout.lane_count <= kMaxLanes);
    require(!layout.lanes_vary || (layout.lane_count == 1 && layout.table_count == 1));
    require(layout.radius >= 0 && layout.radius <= kMaxLayoutRadius);
    require(tree_count(layout) <= kMaxTrees);
    for (int i = 0; i < layout.table_count; i++) {
        Permutation permutation = layout.permutation(i);
        for (uint64_t fingerprint : {uint64_t{1}, uint64_t{0x0123456789abcdef}, UINT64_MAX << 63})
            require(permutation.invert(permutation.apply(fingerprint)) == fingerprint);
    }
}

bool is_same(const Layout& a, const Layout& b) {
    return a.radius == b.radius && a.table_count == b.table_count && a.lane_count == b.lane_count &&
           a.lanes_vary == b.lanes_vary && a.lane_bits == b.lane_bits &&
           a.compared_columns == b.compared_columns;
}

void write_page(Relation index, const Layout& layout) {
    init_meta_page(page, layout, scope_columns(index));
}

// CREATE INDEX refuses any other number of lanes.
bool can_be_created(Relation index) {
    int lanes = lane_layout(index).count;
    return 1 <= lanes && lanes <= kMaxLanes;
}

void write_and_read(Relation index) {
    if (!can_be_created(index))
        return;
    Layout layout = layout_of_options(index);
    check_layout(layout);
    check_plan(layout, described.radius_of_plan % (kFingerprintBits + 2) - 1);
    layout.compared_columns = described.radius_of_plan * 0x01010101u;
    write_page(index, layout);
    require(is_same(read_layout(index), layout));
}

void read_given_page(Relation index) { check_layout(read_layout(index)); }

// An operator class that answers nonsense is an internal error: only superusers create one.
bool is_expected(int state) {
    return state == 0 || state == ERRCODE_INDEX_CORRUPTED ||
           state == ERRCODE_FEATURE_NOT_SUPPORTED || state == ERRCODE_INTERNAL_ERROR;
}

} // namespace

// ---- the server's functions that ask for pages and for the catalog ----

// NOLINTBEGIN(readability-identifier-naming): the server's names
extern "C" {

char* BufferBlocks = page;
Block* LocalBufferBlockPointers = nullptr;
BufferDescPadded* BufferDescriptors = nullptr;
volatile uint32 InterruptHoldoffCount = 0;

Buffer ReadBufferExtended(Relation, ForkNumber, BlockNumber, ReadBufferMode, BufferAccessStrategy) {
    return 1;
}

int NBuffers = 1, NLocBuffer = 0;

void LockBuffer(Buffer, BufferLockMode) {}

bool ActiveSnapshotSet(void) { return true; }

Snapshot GetTransactionSnapshot(void) { return nullptr; }

void PushActiveSnapshot(Snapshot) {}

void PopActiveSnapshot(void) {}

void UnlockReleaseBuffer(Buffer) {}

BlockNumber RelationGetNumberOfBlocksInFork(Relation, ForkNumber) { return 1; }

void PageInit(Page made, Size bytes, Size special_bytes) {
    memset(made, 0, bytes);
    auto* header = reinterpret_cast<PageHeader>(made);
    header->pd_lower = SizeOfPageHeaderData;
    header->pd_upper = header->pd_special = LocationIndex(bytes - MAXALIGN(special_bytes));
    PageSetPageSizeAndVersion(made, bytes, PG_PAGE_LAYOUT_VERSION);
}

RegProcedure index_getprocid(Relation, AttrNumber, uint16) { return kSupportFunction; }

Oid get_opfamily_proc(Oid, Oid, Oid, int16) {
    return described.has_answer ? kSupportFunction : InvalidOid;
}

Oid getBaseTypeAndTypmod(Oid type, int32*) { return type; }

// The class has no options.
bytea** RelationGetIndexAttOptions(Relation, bool) {
    static bytea* none[1];
    return none;
}

void set_fn_opclass_options(FmgrInfo*, bytea*) {}

void fmgr_info(Oid, FmgrInfo* found) {
    *found = {};
    found->fn_addr = answer;
}

int ArrayGetNItems(int, const int* dimensions) { return dimensions[0]; }

// Functions of this and of later servers that inline functions would call for a relation without
// known pages, or while a page is locked.
#define NOT_CALLED(name)                                                                           \
    void not_called_##name() asm(#name);                                                           \
    void not_called_##name() { abort(); }
NOT_CALLED(smgropen)
NOT_CALLED(smgrsetowner)
NOT_CALLED(smgrpin)
NOT_CALLED(LWLockHeldByMe)
NOT_CALLED(BufferIsLockedByMe)
}
// NOLINTEND(readability-identifier-naming)

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size < kInputSize)
        return 0;
    memcpy(&described, data, sizeof described);
    memcpy(page, data + sizeof described, kReadContent);
    memcpy(page + BLCKSZ - kSpecial, data + sizeof described + kReadContent, kSpecial);
    FakeIndex index;
    require(is_expected(run_statement([&] { read_given_page(&index.relation); })));
    // Layouts and plans take long to make, so one of 64 inputs does that. The sum of the bytes
    // chooses: the inputs that the fuzzer keeps and changes are not more often of this kind.
    if (std::accumulate(data, data + size, 0u) % 64 == 0)
        require(is_expected(run_statement([&] { write_and_read(&index.relation); })));
    return 0;
}

// Most bytes are no page. Some inputs are pages that were written, changed a little.
extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
    if (max_size < kInputSize || seed % 64 != 0)
        return LLVMFuzzerMutate(data, size, max_size);
    srand(seed);
    for (size_t i = 0; i < sizeof described; i++)
        data[i] = uint8_t(rand());
    memcpy(&described, data, sizeof described);
    for (int32* number : {&described.radius, &described.tables})
        *number %= 70;
    described.numbers[0] %= kMaxLanes + 2;
    described.numbers[1] %= kMaxCodeBits;
    memcpy(data, &described, sizeof described);
    FakeIndex index;
    run_statement([&] {
        if (can_be_created(&index.relation))
            write_page(&index.relation, layout_of_options(&index.relation));
    });
    memcpy(data + sizeof described, page, kReadContent);
    memcpy(data + sizeof described + kReadContent, page + BLCKSZ - kSpecial, kSpecial);
    for (int i = rand() % 4; i > 0; i--)
        data[size_t(rand()) % kInputSize] = uint8_t(rand());
    return kInputSize;
}
