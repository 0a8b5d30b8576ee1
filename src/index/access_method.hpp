// The access method `simhash` as the server calls it: callbacks, storage parameters, strategies.
// Prototypes are grouped by the file that owns them. The callbacks are those of IndexAmRoutine, and
// the server's manual specifies them. The server calls them without page locks; they leave none.
#pragma once

#include "core/bits/fingerprint.hpp"
#include "core/layout/layout.hpp"
#include "core/text/document_lanes.hpp"
#include "server/pg.hpp"

namespace simhash {

// ---- build.cpp ----

// Subphases in pg_stat_progress_create_index; 1 is "initializing".
enum BuildPhase : int64 { kPhaseScan = 2, kPhaseSort, kPhaseWrite };
char* index_build_phase_name(int64 phase);
IndexBuildResult* index_build(Relation heap, Relation index, IndexInfo* info);
void index_build_empty(Relation index);

// True for an index of this access method, also for a partitioned one, which has no pages. We
// compare a callback, because an access method may have any name in the catalogs.
inline bool is_simhash_index(Relation index) { return index->rd_indam->ambuild == index_build; }

// ---- insert.cpp ----

bool index_insert(Relation index, Datum* values, bool* isnull, ItemPointer heap_tid, Relation heap,
                  IndexUniqueCheck check, bool unchanged, IndexInfo* info);

// ---- scan.cpp ----

IndexScanDesc index_begin_scan(Relation index, int key_count, int order_by_count);
void index_rescan(IndexScanDesc scan, ScanKey keys, int key_count, ScanKey order_bys,
                  int order_by_count);
bool index_get_tuple(IndexScanDesc scan, ScanDirection direction);
int64 index_get_bitmap(IndexScanDesc scan, TIDBitmap* bitmap);
void index_end_scan(IndexScanDesc scan);

// ---- vacuum.cpp ----

IndexBulkDeleteResult* index_bulk_delete(IndexVacuumInfo* info, IndexBulkDeleteResult* result,
                                         IndexBulkDeleteCallback callback, void* state);
IndexBulkDeleteResult* index_vacuum_cleanup(IndexVacuumInfo* info, IndexBulkDeleteResult* result);

// ---- options.cpp ----

// The storage parameters, as the server keeps them.
struct Options {
    int32 varlena_header;
    int radius;
    int tables; // -1: the default, min(radius + 1, 4)
    int fillfactor;
};

bytea* index_options(Datum options, bool validate);
// Registers the options with the server, once, when the library is loaded.
void define_options();
// These return what an index is to be built with: its options, or the defaults of those not set.
Layout layout_of_options(Relation index); // expects that check_first_column() raised no error
struct LaneLayout;
Layout layout_of_lanes(const LaneLayout& lanes, const Options* options); // null: the defaults
int fillfactor_of_options(Relation index);

// ---- first_column.cpp ----

// True when the index is built for the first time: not by REINDEX or TRUNCATE, and not because a
// transaction's end empties a temporary table. We cannot tell REINDEX CONCURRENTLY, which makes
// another index.
bool is_new_index(Relation index);

// Raises an error unless the index's first column is of type bigint, or its operator class computes
// lanes, as many of each value as an index can keep, by which an exclusion constraint finds its
// rows. `info` describes the index, which is being built.
void check_first_column(Relation index, const IndexInfo* info);

// Warns of a new index that nobody searches: if its first column is the primary key, as in (id,
// body), a bigint, whose type alone does not tell it from a fingerprint; if its scope holds the
// primary key, as in (body, id); and if its scope is a fingerprint, as in (minhash(body),
// simhash(body)). `info` describes the index, which is being built.
void warn_of_keys(Relation heap, Relation index, const IndexInfo* info);

// ---- cost.cpp ----

void index_cost_estimate(PlannerInfo* root, IndexPath* path, double loop_count, Cost* startup_cost,
                         Cost* total_cost, Selectivity* selectivity, double* correlation,
                         double* pages);

// ---- Strategies ----

// Strategy numbers of the operator class.
enum Strategy : uint16 {
    kWithinBall = 1, // fp <@ hamming_ball
    kEqual = 2,      // fp = bigint, integer, smallint
    kClose = 3,      // fp ~= bigint
    kDistance = 4,   // ORDER BY fp <~> bigint
    kAlike = 5,      // body =~~ text, code =~~ bit, body &~~ text, body &~~ passage_query
    kDiffers = 6,    // author <> text: compared in rows, as kOverlaps is
    kOverlaps = 7,   // sent && tsrange
    kNear = 100,     // + radius: fp ~|||= bigint
};

inline bool is_near_strategy(int strategy) {
    return kNear <= strategy && strategy <= kNear + kFingerprintBits;
}

// True for an operator of exclusion constraints that narrows no search: the server compares rows.
inline bool compares_rows(int strategy) { return strategy == kDiffers || strategy == kOverlaps; }

// Support functions of an operator class.
enum SupportFunction : uint16 {
    kHashScope = 1, // (type, seed bigint) -> bigint: the type's extended hash function
    kValueLanes =
        2, // (type [, type modifier integer]) -> bigint[]: the lanes of a value (lanes.hpp)
    kLaneLayout = 3, // (type modifier integer) -> integer[]: a LaneLayout
    kOptions = 4,    // (internal) -> void: the options of the class, which 2 and 3 may ask for
};

// Returns the radius that a strategy stands for, or kNoRadius if its argument gives the radius or
// it has none. For =~~ it is that of values of one lane (LaneLayout::near_radius).
inline int radius_of_strategy(int strategy) {
    if (is_near_strategy(strategy))
        return strategy - kNear;
    switch (strategy) {
    case kEqual:
        return 0;
    case kClose:
        return kCloseRadius;
    case kAlike:
        return kAlikeRadius;
    default:
        return kNoRadius;
    }
}

} // namespace simhash
