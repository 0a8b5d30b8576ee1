// Reads the documents that a query returns. See the header.
#include "tables/documents.hpp"

#include "server/arguments.hpp"
#include "tables/collector.hpp"
#include "values/text/document_features.hpp"
#include "tables/query_rows.hpp"
#include "server/server_text.hpp"

namespace simhash {

namespace {

constexpr const char* kQueryHint = "Write a query such as SELECT id, body FROM pages.";

} // namespace

Documents::Documents(PagePool* pool, Oid id_type, size_t sort_bytes)
    : row_context_(
          AllocSetContextCreate(CurrentMemoryContext, "simhash document", ALLOCSET_DEFAULT_SIZES)),
      id_type_(id_type), documents_(pool), ids_(pool), sets_(pool), features_(server_memory()),
      by_set_(sort_bytes) {
    get_typlenbyval(id_type, &id_length_, &id_by_value_);
}

void Documents::read_query(const text* query) {
    run_query(query, {begin, add_row, this});
    features_.release();
}

// ---- columns ----

void Documents::begin(void* documents, TupleDesc columns) {
    auto* self = static_cast<Documents*>(documents);
    if (columns->natts != 2)
        ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                        errmsg("query must return two columns, an id and a text"),
                        errdetail_plural("It returns %d column.", "It returns %d columns.",
                                         columns->natts, columns->natts),
                        errhint("%s", kQueryHint)));
    self->check_document_column(TupleDescAttr(columns, 1));
    self->check_id_column(TupleDescAttr(columns, 0));
}

void Documents::check_document_column(Form_pg_attribute column) {
    if (IsBinaryCoercible(column->atttypid, TEXTOID))
        form_ = Form::kText;
    else if (is_shingle_set(column->atttypid))
        form_ = Form::kShingleSet;
    else
        ereport(ERROR,
                (errcode(ERRCODE_DATATYPE_MISMATCH), errmsg("query must return an id and a text"),
                 errdetail("The second column is of type %s.", format_type_be(column->atttypid)),
                 errhint("%s", kQueryHint)));
}

void Documents::check_id_column(Form_pg_attribute column) {
    Oid type = column->atttypid, base_type = getBaseType(type);
    // No conversion is needed.
    if (IsBinaryCoercible(type, id_type_))
        return;
    // The function without an id_type returns ids as bigint, and takes all integers.
    if (id_type_ == INT8OID && base_type == INT2OID)
        conversion_ = Conversion::kFromSmallint;
    else if (id_type_ == INT8OID && base_type == INT4OID)
        conversion_ = Conversion::kFromInteger;
    else
        ereport(ERROR,
                (errcode(ERRCODE_DATATYPE_MISMATCH),
                 errmsg("ids of the query are of type %s, not %s", format_type_be(type),
                        format_type_be(id_type_)),
                 errhint("Give the type of the ids after the similarity: (query, 0.8, NULL::%s).",
                         format_type_be(type))));
}

// ---- rows ----

void Documents::add_row(void* documents, TupleTableSlot* row) {
    auto* self = static_cast<Documents*>(documents);
    bool id_is_null, document_is_null;
    Datum id = slot_getattr(row, 1, &id_is_null);
    Datum document = slot_getattr(row, 2, &document_is_null);
    if (id_is_null)
        ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
                        errmsg("query must not return an id that is null"),
                        errhint("Leave out such rows in the query.")));
    // The detoasted text and what its conversion leaves go with the row. What is kept has contexts
    // of its own.
    MemoryContext caller = MemoryContextSwitchTo(self->row_context_);
    self->add(id, document, document_is_null);
    MemoryContextSwitchTo(caller);
    MemoryContextReset(self->row_context_);
}

void Documents::add(Datum id, Datum document, bool is_null) {
    // The documents are numbered in the order in which the query returns them.
    size_t number = count();
    if (number == kMostDocuments)
        ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                        errmsg("query returns too many documents"),
                        errdetail("The limit is %u.", kMostDocuments)));
    FeatureHashes hashes = is_null ? FeatureHashes() : features(document);
    Assert(hashes.size() <= UINT32_MAX); // a byte of a document gives fewer than four words
    // The set will begin where the file of sets ends now.
    Document added = {keep_id(id), sets_.size(), 0, uint32_t(hashes.size()), kNoDocument};
    // A document without features has no fingerprint and is in no pair. Groups need its id.
    if (minhash_of(hashes, &added.fingerprint)) {
        sets_.append(hashes.data(), hashes.size_bytes());
        uint64_t hash = hash_feature(
            HashKind::kXxh3, reinterpret_cast<const uint8_t*>(hashes.data()), hashes.size_bytes());
        by_set_.add({hash, number});
    }
    documents_.add(added);
}

FeatureHashes Documents::features(Datum document) {
    if (form_ == Form::kShingleSet)
        return hashes_of_set(document);
    ServerText source(DatumGetTextPP(document));
    // The set's memory is used again for the next document.
    features_.clear();
    each_feature(kShingles, kShingleWidth, source.source(), features_);
    return features_.finish();
}

FeatureHashes Documents::hashes_of_set(Datum document) {
    const ShingleSet* set = datum_get_shingle_set(document);
    if (!shingles_)
        shingles_ = set->kind();
    check_comparable(*shingles_, set->kind());
    return set->span();
}

uint64_t Documents::keep_id(Datum id) {
    // The sign is extended to 64 bits.
    if (conversion_ == Conversion::kFromSmallint)
        return uint64_t(DatumGetInt16(id));
    if (conversion_ == Conversion::kFromInteger)
        return uint64_t(DatumGetInt32(id));
    if (id_by_value_)
        return id;
    if (id_length_ == -1) // from a toasted or an expanded form
        id = PointerGetDatum(PG_DETOAST_DATUM_PACKED(id));
    // Each id is stored behind its size in bytes, so ids of any type can be read back.
    uint64_t position = ids_.size();
    auto bytes = uint32(datumGetSize(id, false, id_length_));
    ids_.append(&bytes, sizeof(bytes));
    ids_.append(DatumGetPointer(id), bytes);
    return position;
}

// ---- what was read ----

void Documents::set_next_copy(DocumentNumber number, DocumentNumber copy) {
    // A copy is read, changed and written, as records are not addressed in place.
    Document document = documents_[number];
    document.next_copy = copy;
    documents_.set(number, document);
}

Datum Documents::id(DocumentNumber number) {
    uint64_t id = documents_[number].id;
    if (id_by_value_)
        return id;
    uint32 bytes;
    ids_.read(id, &bytes, sizeof(bytes));
    void* copy = MemoryContextAllocHuge(CurrentMemoryContext, bytes);
    ids_.read(id + sizeof(bytes), copy, bytes);
    return PointerGetDatum(copy);
}

FeatureHashes Documents::set(DocumentNumber number, SetBuffer* buffer) {
    // Verification takes candidates in an order in which the same document often comes again.
    if (buffer->document != number) {
        Document document = documents_[number];
        if (buffer->capacity < document.features) {
            if (buffer->hashes != nullptr)
                pfree(buffer->hashes);
            // A quarter is added, so that a slightly larger set does not allocate again.
            buffer->capacity = document.features + document.features / 4;
            buffer->hashes = allocate<uint64_t>(buffer->context, buffer->capacity);
        }
        sets_.read(document.set, buffer->hashes, document.features * sizeof(uint64_t));
        buffer->count = document.features;
        buffer->document = number;
    }
    return {buffer->hashes, buffer->count};
}

void Documents::release_sets() {
    sets_.close();
    by_set_.release();
}

void Documents::release() {
    release_sets();
    documents_.close();
    ids_.close();
}

} // namespace simhash
