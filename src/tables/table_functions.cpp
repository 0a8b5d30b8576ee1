// near_duplicate_pairs, near_duplicate_groups and near_duplicate_join; simhash_pairs,
// simhash_groups and simhash_join: of the rows that a query returns, or two queries, by their ids.
// Neither an index nor a column of fingerprints is needed for documents.
//
// The limit of memory is that of a hash table in the same query: work_mem times
// hash_mem_multiplier. Half of it is for what is kept of rows: most for pages, of which the rest is
// in temporary files. The other half is for sorting, and then for the search.
#include <algorithm>
#include <bit>
#include <optional>

#include "core/text/document_lanes.hpp"
#include "server/arguments.hpp"
#include "tables/documents.hpp"
#include "tables/groups.hpp"
#include "tables/query_values.hpp"
#include "tables/row_search.hpp"

using namespace simhash;

namespace {

// The parts of the memory.
struct Shares {
    size_t memory = get_hash_memory_limit();
    size_t words = std::min(memory / 8, WordTable::kMostBytes);
    size_t pages = memory / 16 * 5 - words;
    size_t sets = memory / 16 * 3; // of documents that are compared
    size_t sort = memory / 2;      // the rows of a query by their values; ends before the search
    size_t search = memory / 8 * 3;
    size_t results = memory / 8;
};

// Documents, whose similarity is asked for, or fingerprints and codes, whose distance is.
enum class Kind { kDocuments, kValues };

// The rows that are searched: of one query or two.
class Rows {
  public:
    // Reads the queries, in the current memory context. b: null if there is one
    Rows(const Shares& shares, Kind kind, Oid id_type, double similarity, int radius, const text* a,
         const text* b)
        : pool_(CurrentMemoryContext, shares.pages), ids_(&pool_, id_type), copies_(&pool_) {
        if (kind == Kind::kDocuments) {
            documents_.emplace(&pool_, &ids_, &copies_, shares.sort, shares.sets, shares.words);
            read_documents(a, &models_[0]);
            if (b != nullptr)
                read_documents(b, &models_[1]);
        } else {
            QueryValues values(&pool_, &ids_, &copies_, shares.sort, radius);
            values.read(a, &models_[0]);
            if (b != nullptr)
                values.read(b, &models_[1]);
        }
        search_.emplace(&pool_, radius, documents_ ? &*documents_ : nullptr, similarity,
                        shares.search);
    }

    PagePool* pool() { return &pool_; }
    RowIds& ids() { return ids_; }
    Copies& copies() { return copies_; }
    Models* models(int query) { return models_[query] ? &*models_[query] : nullptr; }
    RowSearch& search() { return *search_; }

    // Of rows with the same value.
    double measure_of_equal() const { return documents_ ? 1 : 0; }
    Datum datum(double measure) const {
        return documents_ ? Float8GetDatum(measure) : Int32GetDatum(int(measure));
    }

  private:
    void read_documents(const text* query, std::optional<Models>* models) {
        models->emplace(&pool_, kLanesOfDocument, 1);
        documents_->read(query, &**models);
    }

    PagePool pool_;
    RowIds ids_;
    Copies copies_;
    std::optional<Documents> documents_;
    std::optional<Models> models_[2];
    std::optional<RowSearch> search_;
};

// The pairs that were found, until they are given in order of the first row, then of the other.
class PairsInOrder {
  public:
    PairsInOrder(Copies* copies, size_t memory) : copies_(*copies), sorter_(memory) {}

    // Each row that has the value of the one is as near to each that has that of the other.
    void add_with_copies(RowNumber a, RowNumber b, double measure) {
        for (RowNumber i = a; i != kNoRow; i = copies_.after(i))
            for (RowNumber j = b; j != kNoRow; j = copies_.after(j))
                add(i, j, measure);
    }

    void add_copies(double measure) {
        for (size_t i = 0; i < copies_.rows(); i++) {
            auto row = RowNumber(i);
            CHECK_FOR_INTERRUPTS();
            // Each row is paired with all copies behind it, which gives every pair once.
            for (RowNumber copy = copies_.after(row); copy != kNoRow; copy = copies_.after(copy))
                add(row, copy, measure);
        }
    }

    void give(const Rows& rows, ResultRows* result) {
        sorter_.finish();
        for (Pair pair{}; sorter_.next(&pair);)
            result->put(RowNumber(pair.first >> 32), RowNumber(pair.first),
                        rows.datum(std::bit_cast<double>(pair.second)));
        sorter_.release();
    }

  private:
    void add(RowNumber a, RowNumber b, double measure) {
        CHECK_FOR_INTERRUPTS();
        uint64_t earlier = std::min(a, b), later = std::max(a, b);
        sorter_.add({earlier << 32 | later, std::bit_cast<uint64_t>(measure)});
    }

    Copies& copies_;
    ExternalSorter<Pair> sorter_; // (both rows, measure)
};

// ---- the functions' results ----

// Of one query or of two: the rows of the second have the greater numbers.
void put_pairs(Rows* rows, const Shares& shares, ResultRows* result) {
    PairsInOrder pairs(&rows->copies(), shares.results);
    bool is_join = rows->models(1) != nullptr;
    rows->search().find_pairs(
        rows->models(0), rows->models(1), [](RowNumber, RowNumber) { return true; },
        [&](RowNumber a, RowNumber b, double measure) { pairs.add_with_copies(a, b, measure); });
    if (!is_join)
        pairs.add_copies(rows->measure_of_equal());
    pairs.give(*rows, result);
}

// Each row of the query has a row, also one that is alone: it is its own original.
void put_groups(Rows* rows, const Shares& shares, ResultRows* result) {
    Originals originals(rows->pool(), &rows->search(), rows->ids().count(), shares.results);
    originals.find(rows->models(0));
    originals.give(&rows->copies(), rows->measure_of_equal(),
                   [&](RowNumber row, RowNumber original, std::optional<double> measure) {
                       result->put(row, original,
                                   measure ? std::optional(rows->datum(*measure)) : std::nullopt);
                   });
}

void put_chains(Rows* rows, const Shares&, ResultRows* result) {
    Links links(rows->pool(), &rows->copies());
    links.find(&rows->search(), rows->models(0));
    // Of two rows of a chain nobody knows how near they are.
    for (size_t row = 0; row < rows->ids().count(); row++)
        result->put(RowNumber(row), links.original_of(RowNumber(row)), {});
}

// ---- arguments ----

// The result of a function whose first arguments are the queries, and the next the similarity or
// the radius. It may have a last one, of which only the type counts: that of the ids. A query that
// is NULL gives no rows.
Datum table_result(FunctionCallInfo fcinfo, Kind kind, int queries, const auto& put) {
    InitMaterializedSRF(fcinfo, 0);
    require_not_null(fcinfo, queries, kind == Kind::kDocuments ? "similarity" : "radius");
    for (int i = 0; i < queries; i++)
        if (PG_ARGISNULL(i))
            return Datum(0);
    double similarity = 0;
    int radius;
    if (kind == Kind::kDocuments) {
        similarity = share_argument(fcinfo, queries, "similarity");
        radius = near_radius(similarity);
    } else {
        radius = PG_GETARG_INT32(queries);
    }
    text* a = PG_GETARG_TEXT_PP(0);
    text* b = queries == 2 ? PG_GETARG_TEXT_PP(1) : nullptr;
    // All that the search leaves behind goes with this context.
    MemoryContext context =
        AllocSetContextCreate(CurrentMemoryContext, "simhash rows", ALLOCSET_DEFAULT_SIZES);
    MemoryContext caller = MemoryContextSwitchTo(context);
    Shares shares;
    Rows rows(shares, kind, type_of_ids(fcinfo), similarity, radius, a, b);
    ResultRows result(fcinfo, &rows.ids());
    put(&rows, shares, &result);
    MemoryContextSwitchTo(caller);
    MemoryContextDelete(context);
    return Datum(0);
}

// The argument after the similarity or the radius says whether chains are one group.
Datum groups(FunctionCallInfo fcinfo, Kind kind) {
    require_not_null(fcinfo, 2, "chains");
    return table_result(fcinfo, kind, 1, PG_GETARG_BOOL(2) ? put_chains : put_groups);
}

} // namespace

// (query text, similarity double precision [, id_type anyelement]).
SIMHASH_FUNCTION(simhash_near_duplicate_pairs) {
    return table_result(fcinfo, Kind::kDocuments, 1, put_pairs);
}

// (query text, similarity double precision, chains boolean [, id_type anyelement]).
SIMHASH_FUNCTION(simhash_near_duplicate_groups) { return groups(fcinfo, Kind::kDocuments); }

// (a_query text, b_query text, similarity double precision [, id_type anyelement]).
SIMHASH_FUNCTION(simhash_near_duplicate_join) {
    return table_result(fcinfo, Kind::kDocuments, 2, put_pairs);
}

// (query text, radius integer [, id_type anyelement]).
SIMHASH_FUNCTION(simhash_pairs) { return table_result(fcinfo, Kind::kValues, 1, put_pairs); }

// (query text, radius integer, chains boolean [, id_type anyelement]).
SIMHASH_FUNCTION(simhash_groups) { return groups(fcinfo, Kind::kValues); }

// (a_query text, b_query text, radius integer [, id_type anyelement]).
SIMHASH_FUNCTION(simhash_join) { return table_result(fcinfo, Kind::kValues, 2, put_pairs); }
