// Storage parameters: radius, tables, fillfactor; and the notice of ALTER INDEX that the first two
// wait for a REINDEX.
#include "index/access_method.hpp"

#include <algorithm>

namespace simhash {

namespace {

relopt_kind option_kind;

constexpr int kDefaultRadius = 3;
constexpr int kDefaultTables = 4;   // at most; a radius below 3 needs fewer
constexpr int kTablesByRadius = -1; // stands for min(radius + 1, kDefaultTables)
constexpr int kDefaultFillfactor = 90;
constexpr int kMinFillfactor = 10;

object_access_hook_type next_object_access_hook;

// PostgreSQL 18 has more members, which we leave as they are.
constexpr relopt_parse_elt int_option(const char* name, int offset) {
    relopt_parse_elt option{};
    option.optname = name;
    option.opttype = RELOPT_TYPE_INT;
    option.offset = offset;
    return option;
}

// The options of a pg_class row that decide the layout.
struct LayoutOptions {
    int radius = kDefaultRadius;
    int tables = kTablesByRadius;
    bool operator==(const LayoutOptions&) const = default;
};

LayoutOptions layout_options(HeapTuple class_row, TupleDesc descriptor) {
    auto* options =
        reinterpret_cast<Options*>(extractRelOptions(class_row, descriptor, index_options));
    return options != nullptr ? LayoutOptions{options->radius, options->tables} : LayoutOptions{};
}

bool is_simhash_index(Form_pg_class row) {
    if (row->relkind != RELKIND_INDEX)
        return false;
    const IndexAmRoutine* am = GetIndexAmRoutineByAmId(row->relam, true);
    return am != nullptr && am->ambuild == index_build;
}

// Whether the command that is under way changes radius or tables. `before` is the row as other
// commands see it; what this command has written is seen by SnapshotSelf.
bool changes_layout_options(Oid index, HeapTuple before) {
    ScanKeyData key;
    ScanKeyInit(&key, Anum_pg_class_oid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(index));
    Relation classes = table_open(RelationRelationId, AccessShareLock);
    SysScanDesc scan = systable_beginscan(classes, ClassOidIndexId, true, SnapshotSelf, 1, &key);
    HeapTuple after = systable_getnext(scan);
    TupleDesc descriptor = RelationGetDescr(classes);
    bool changed = HeapTupleIsValid(after) &&
                   layout_options(before, descriptor) != layout_options(after, descriptor);
    systable_endscan(scan);
    table_close(classes, AccessShareLock);
    return changed;
}

void tell_that_rebuild_is_needed(Oid index, Form_pg_class row) {
    const char* name = NameStr(row->relname);
    const char* schema = RelationIsVisible(index) ? nullptr : get_namespace_name(row->relnamespace);
    const char* qualified = quote_qualified_identifier(schema, name);
    ereport(NOTICE, (errmsg("index \"%s\" keeps its block tables until it is rebuilt", name),
                     errdetail("Options radius and tables take effect when an index is built."),
                     errhint("To rebuild it, use REINDEX INDEX %s, or REINDEX INDEX CONCURRENTLY "
                             "%s.",
                             qualified, qualified)));
}

// ALTER INDEX ... SET (radius = ...) changes the catalog and not the index: says so. The callback
// amoptions cannot: it is not told whose options it reads, and is not called for the last RESET.
void look_at_altered_object(ObjectAccessType access, Oid catalog, Oid object, int sub_object,
                            void* argument) {
    if (next_object_access_hook != nullptr)
        next_object_access_hook(access, catalog, object, sub_object, argument);
    if (access != OAT_POST_ALTER || catalog != RelationRelationId || sub_object != 0)
        return;
    HeapTuple before = SearchSysCache1(RELOID, ObjectIdGetDatum(object));
    if (!HeapTupleIsValid(before))
        return;
    auto* row = reinterpret_cast<Form_pg_class>(GETSTRUCT(before));
    if (is_simhash_index(row) && changes_layout_options(object, before))
        tell_that_rebuild_is_needed(object, row);
    ReleaseSysCache(before);
}

} // namespace

void define_options() {
    option_kind = add_reloption_kind();
    add_int_reloption(option_kind, "radius",
                      "Hamming distance that the block tables are laid out for, if there are more "
                      "tables than that",
                      kDefaultRadius, 0, kMaxLayoutRadius, AccessExclusiveLock);
    add_int_reloption(option_kind, "tables",
                      "Greatest number of block tables (default: radius + 1, at most 4)",
                      kTablesByRadius, 1, kMaxTables, AccessExclusiveLock);
    add_int_reloption(option_kind, "fillfactor", "Per cent of a leaf that the build fills",
                      kDefaultFillfactor, kMinFillfactor, 100, ShareUpdateExclusiveLock);
    next_object_access_hook = object_access_hook;
    object_access_hook = look_at_altered_object;
}

bytea* index_options(Datum options, bool validate) {
    static constexpr relopt_parse_elt kTable[] = {
        int_option("radius", offsetof(Options, radius)),
        int_option("tables", offsetof(Options, tables)),
        int_option("fillfactor", offsetof(Options, fillfactor)),
    };
    return static_cast<bytea*>(build_reloptions(options, validate, option_kind, sizeof(Options),
                                                kTable, lengthof(kTable)));
}

Layout default_layout() {
    return make_layout(kDefaultRadius, kDefaultTables);
}

Layout layout_of_options(Relation index) {
    auto* options = reinterpret_cast<Options*>(index->rd_options);
    int radius = options != nullptr ? options->radius : kDefaultRadius;
    int tables = options != nullptr ? options->tables : 0;
    return make_layout(radius, tables > 0 ? tables : std::min(radius + 1, kDefaultTables));
}

int fillfactor_of_options(Relation index) {
    auto* options = reinterpret_cast<Options*>(index->rd_options);
    return options != nullptr ? options->fillfactor : kDefaultFillfactor;
}

} // namespace simhash
