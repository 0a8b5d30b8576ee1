// Reads the documents that a query returns. See the header.
#include "tables/documents.hpp"

#include <algorithm>
#include <bit>

#include "tables/collector.hpp"

namespace simhash {

Documents::Documents(PagePool* pool, double similarity, size_t sort_bytes, size_t set_bytes,
                     size_t word_bytes)
    : SearchedValues(pool, sort_bytes, "an id and a text", "SELECT id, body FROM pages"),
      similarity_(similarity), radius_(near_radius(similarity)),
      // Coded words become a set of four times their size or so.
      part_bytes_(set_bytes / 16 + 1), word_bytes_(word_bytes), documents_(pool), kept_(pool),
      cutter_(word_bytes), most_(set_bytes / sizeof(uint64_t)) {}

void Documents::begin(Form_pg_attribute column) {
    is_text_ = IsBinaryCoercible(column->atttypid, TEXTOID);
    if (is_text_)
        check_kind({kShingles, kShingleWidth});
    else if (!is_shingle_set(column->atttypid))
        report_type(column, Wanted::kDocuments);
    MemoryContext caller = MemoryContextSwitchTo(context_);
    workers_.emplace(word_bytes_, this);
    MemoryContextSwitchTo(caller);
}

void Documents::end() {
    workers_->finish();
    workers_.reset();
    first_table_ += CuttingWorkers::kMost;
}

// All documents have shingles of one kind.
void Documents::check_kind(ShingleKind kind) {
    if (!kind_)
        kind_ = kind;
    check_comparable(*kind_, kind);
}

void Documents::add(RowNumber row, Datum document, bool is_null) {
    documents_.add({});
    if (is_null)
        return;
    if (is_text_) {
        const text* source = DatumGetTextPP(document);
        if (workers_->add(row, source))
            return;
        CutDocument cut = cutter_.cut(source);
        store(row, cut, cutter_.words().data(), cut.word_bytes, 0);
    } else {
        const ShingleSet* set = datum_get_shingle_set(document);
        check_kind(set->kind());
        store(row, document_of(set->span()), set->span().data(), set->span().size_bytes(), 0);
    }
}

void Documents::add_table(int worker, std::span<const uint8_t> words) {
    MemoryContext caller = MemoryContextSwitchTo(context_);
    tables_[first_table_ + worker].emplace(server_memory(), words);
    MemoryContextSwitchTo(caller);
}

// A document without features is in no pair.
void Documents::store(RowNumber row, const CutDocument& document, const void* kept, size_t bytes,
                      int table) {
    if (document.features == 0)
        return;
    documents_.set(row, {kept_.size(), uint64_t(table), document.lanes, document.features,
                         document.word_bytes});
    kept_.append(kept, bytes);
    add_hash(document.set_hash, row);
}

// ---- two documents ----

bool Documents::are_equal(RowNumber a, RowNumber b) {
    Sets of = sets(a, b);
    return std::equal(of.a.begin(), of.a.end(), of.b.begin(), of.b.end());
}

void Documents::get_lanes(RowNumber row, uint64_t* lanes) {
    DocumentLanes of_row = documents_[row].lanes;
    std::copy(of_row.begin(), of_row.end(), lanes);
}

// The similarity is at most the size of the smaller set divided by that of the larger one. And a
// pair is taken by the first lane that is near.
bool Documents::may_be_pair(int lane, RowNumber a, RowNumber b) {
    Document of_a = documents_[a], of_b = documents_[b];
    double size_a = of_a.features, size_b = of_b.features;
    if (std::min(size_a, size_b) / std::max(size_a, size_b) < similarity_)
        return false;
    for (size_t i = 0; i < size_t(lane); i++)
        if (hamming_distance(of_a.lanes[i], of_b.lanes[i]) <= radius_)
            return false;
    return true;
}

bool Documents::is_pair(int, RowNumber a, RowNumber b, double* similarity) {
    Sets of = sets(a, b);
    // This stops as soon as the answer is sure, so the number is computed only for pairs.
    return is_set_similarity_at_least(of.a, of.b, similarity_) &&
           set_similarity(of.a, of.b, similarity);
}

// ---- sets that are asked for ----

Documents::Sets Documents::sets(RowNumber a, RowNumber b) {
    // The room does not move while both are made.
    make_room(size_t(documents_[a].features) + documents_[b].features);
    return {set(a), set(b)};
}

// Where the room is full, all sets that were made are forgotten.
void Documents::make_room(size_t hashes) {
    constexpr size_t kFirst = 8192, kOfSet = 64; // hashes
    if (used_ + hashes <= room_)
        return;
    size_t wanted = std::max(hashes, std::min(std::max(2 * room_, kFirst), most_));
    if (wanted > room_) {
        if (hashes_ != nullptr) {
            pfree(hashes_);
            pfree(made_);
        }
        room_ = wanted;
        hashes_ = allocate<uint64_t>(context_, room_);
        places_ = std::bit_ceil(room_ / kOfSet + 1);
        made_ = allocate<MadeSet>(context_, places_);
    }
    used_ = 0;
    std::fill_n(made_, places_, MadeSet{kNoRow, 0});
}

FeatureHashes Documents::set(RowNumber row) {
    MadeSet& made = made_[row & (places_ - 1)];
    Document document = documents_[row];
    if (made.row != row) {
        made = {row, uint32_t(used_)};
        make_set(document, hashes_ + used_);
        used_ += document.features;
    }
    return {hashes_ + made.begin, document.features};
}

void Documents::make_set(const Document& document, uint64_t* set) {
    if (document.word_bytes == 0) {
        kept_.read(document.kept, set, document.features * sizeof(uint64_t));
        return;
    }
    kept_.read(document.kept, cutter_.room(document.word_bytes), document.word_bytes);
    FeatureHashes made =
        cutter_.set_by(document.table == 0 ? cutter_.table() : *tables_[document.table]);
    Assert(made.size() == document.features);
    std::copy(made.begin(), made.end(), set);
}

} // namespace simhash
