// Reads the documents that a query returns. See the header.
#include "tables/documents.hpp"

#include <algorithm>
#include <bit>

#include "tables/collector.hpp"

namespace simhash {

Documents::Documents(PagePool* pool, RowIds* ids, Copies* copies, size_t sort_bytes,
                     size_t set_bytes, size_t word_bytes)
    : ids_(*ids), copies_(*copies), context_(CurrentMemoryContext), sort_bytes_(sort_bytes),
      // Coded words become a set of four times their size or so.
      part_bytes_(set_bytes / 16 + 1), word_bytes_(word_bytes), documents_(pool), kept_(pool),
      cutter_(word_bytes), most_(set_bytes / sizeof(uint64_t)) {}

ValueReceiver Documents::receiver() {
    return {begin, add, this, "an id and a text", "SELECT id, body FROM pages"};
}

void Documents::read(const text* query, Models* models) {
    static_assert(kLanesOfDocument == 2);
    ExternalSorter<Pair> by_lane[] = {ExternalSorter<Pair>(sort_bytes_ / 4),
                                      ExternalSorter<Pair>(sort_bytes_ / 4)};
    equal_sets_.emplace(&copies_, sort_bytes_ / 2);
    workers_.emplace(word_bytes_, cut_receiver());
    read_rows(query, &ids_, &copies_, receiver());
    workers_->finish();
    workers_.reset();
    first_table_ += CuttingWorkers::kMost;
    auto are_equal = [&](RowNumber a, RowNumber b) {
        Sets of = sets(a, b);
        return std::equal(of.a.begin(), of.a.end(), of.b.begin(), of.b.end());
    };
    auto add_lanes = [&](RowNumber row) {
        Document document = documents_[row];
        for (size_t lane = 0; lane < kLanesOfDocument; lane++)
            by_lane[lane].add({document.lanes[lane], row});
    };
    equal_sets_->find(are_equal, add_lanes);
    equal_sets_.reset();
    for (size_t lane = 0; lane < kLanesOfDocument; lane++) {
        by_lane[lane].finish();
        for (Pair entry{}; by_lane[lane].next(&entry);) {
            CHECK_FOR_INTERRUPTS();
            models->list(int(lane))->add(&entry.first, RowNumber(entry.second));
        }
        by_lane[lane].release();
    }
}

void Documents::begin(void* documents, Form_pg_attribute column) {
    auto* self = static_cast<Documents*>(documents);
    self->is_text_ = IsBinaryCoercible(column->atttypid, TEXTOID);
    if (self->is_text_)
        self->check_kind({kShingles, kShingleWidth});
    else if (!is_shingle_set(column->atttypid))
        report_value_type(column, self->receiver());
}

// All documents have shingles of one kind.
void Documents::check_kind(ShingleKind kind) {
    if (!kind_)
        kind_ = kind;
    check_comparable(*kind_, kind);
}

void Documents::add(void* documents, RowNumber row, Datum document, bool is_null) {
    auto* self = static_cast<Documents*>(documents);
    self->documents_.add({});
    if (is_null)
        return;
    if (self->is_text_) {
        const text* source = DatumGetTextPP(document);
        if (self->workers_->add(row, source))
            return;
        CutDocument cut = self->cutter_.cut(source);
        self->store(row, cut, self->cutter_.words().data(), cut.word_bytes, 0);
    } else {
        const ShingleSet* set = datum_get_shingle_set(document);
        self->check_kind(set->kind());
        self->store(row, document_of(set->span()), set->span().data(), set->span().size_bytes(), 0);
    }
}

CutReceiver Documents::cut_receiver() {
    return {[](void* documents, int worker, RowNumber row, const CutDocument& document,
               const uint8_t* words) {
                auto* self = static_cast<Documents*>(documents);
                self->store(row, document, words, document.word_bytes, self->first_table_ + worker);
            },
            [](void* documents, int worker, std::span<const uint8_t> words) {
                auto* self = static_cast<Documents*>(documents);
                MemoryContext caller = MemoryContextSwitchTo(self->context_);
                self->tables_[self->first_table_ + worker].emplace(server_memory(), words);
                MemoryContextSwitchTo(caller);
            },
            this};
}

// A document without features is in no pair.
void Documents::store(RowNumber row, const CutDocument& document, const void* kept, size_t bytes,
                      int table) {
    if (document.features == 0)
        return;
    documents_.set(row, {kept_.size(), uint64_t(table), document.lanes, document.features,
                         document.word_bytes});
    kept_.append(kept, bytes);
    equal_sets_->add(document.set_hash, row);
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
