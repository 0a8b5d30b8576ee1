// Reads the documents that a query returns. See the header.
#include "tables/documents.hpp"

#include <algorithm>

#include "server/arguments.hpp"
#include "server/server_text.hpp"
#include "tables/collector.hpp"
#include "values/text/document_features.hpp"

namespace simhash {
namespace {

// The models whose sets have a certain hash: as good as always one.
struct ModelsOfHash {
    struct Model {
        RowNumber row, last_copy;
    };

    uint64_t hash = 0;
    size_t count = 0, capacity = 4;
    Model* models = allocate<Model>(CurrentMemoryContext, capacity);

    void add(RowNumber row) {
        if (count == capacity)
            models = resize(models, capacity *= 2);
        models[count++] = {row, row};
    }
};

} // namespace

Documents::Documents(PagePool* pool, RowIds* ids, Copies* copies, size_t sort_bytes)
    : ids_(*ids), copies_(*copies), sort_bytes_(sort_bytes), part_bytes_(pool->memory_bytes() / 4),
      documents_(pool), sets_(pool),
      features_(server_memory()), set_a_{CurrentMemoryContext}, set_b_{CurrentMemoryContext} {}

ValueReceiver Documents::receiver() {
    return {begin, add, this, "an id and a text", "SELECT id, body FROM pages"};
}

void Documents::read(const text* query, Models* models) {
    static_assert(kLanesOfDocument == 2);
    ExternalSorter<Entry> by_lane[] = {ExternalSorter<Entry>(sort_bytes_ / 4),
                                       ExternalSorter<Entry>(sort_bytes_ / 4)};
    by_set_.emplace(sort_bytes_ / 2);
    read_rows(query, &ids_, &copies_, receiver());
    find_models([&](RowNumber row) {
        Document document = documents_[row];
        for (size_t lane = 0; lane < kLanesOfDocument; lane++)
            by_lane[lane].add({document.lanes[lane], row});
    });
    by_set_.reset();
    for (size_t lane = 0; lane < kLanesOfDocument; lane++) {
        by_lane[lane].finish();
        for (Entry entry{}; by_lane[lane].next(&entry);) {
            CHECK_FOR_INTERRUPTS();
            models->list(int(lane))->add(&entry.key, RowNumber(entry.tid));
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
    FeatureHashes hashes = is_null ? FeatureHashes() : self->features(document);
    Assert(hashes.size() <= UINT32_MAX); // a byte of a document gives fewer than four words
    // The set will begin where the file of sets ends now.
    Document added = {self->sets_.size(), {}, uint32_t(hashes.size())};
    // A document without features is in no pair.
    if (!hashes.empty()) {
        DocumentMinima minima;
        for (uint64_t hash : hashes)
            minima.add(hash);
        added.lanes = minima.words();
        self->sets_.append(hashes.data(), hashes.size_bytes());
        uint64_t hash = hash_feature(
            HashKind::kXxh3, reinterpret_cast<const uint8_t*>(hashes.data()), hashes.size_bytes());
        self->by_set_->add({hash, row});
    }
    self->documents_.add(added);
}

FeatureHashes Documents::features(Datum document) {
    if (!is_text_) {
        const ShingleSet* set = datum_get_shingle_set(document);
        check_kind(set->kind());
        return set->span();
    }
    ServerText source(DatumGetTextPP(document));
    // The set's memory is used again for the next document.
    features_.clear();
    each_feature(kShingles, kShingleWidth, source.source(), features_);
    return features_.finish();
}

// Calls give(row) for each document that has a set which no earlier one has.
template <typename Give>
void Documents::find_models(const Give& give) {
    ModelsOfHash of_hash;
    by_set_->finish();
    for (Entry entry{}; by_set_->next(&entry);) {
        CHECK_FOR_INTERRUPTS();
        auto row = RowNumber(entry.tid);
        // Equal hashes come one after another, in order of their rows. So the first document with a
        // set is met first, and becomes the model.
        if (entry.key != of_hash.hash)
            of_hash.count = 0;
        of_hash.hash = entry.key;
        auto* end = of_hash.models + of_hash.count;
        auto* model = std::find_if(of_hash.models, end, [&](const ModelsOfHash::Model& model) {
            return have_equal_sets(model.row, row);
        });
        if (model == end) {
            of_hash.add(row);
            give(row);
        } else {
            copies_.append(model->last_copy, row);
            model->last_copy = row;
        }
    }
    pfree(of_hash.models);
    by_set_->release();
}

bool Documents::have_equal_sets(RowNumber a, RowNumber b) {
    FeatureHashes of_a = set(a, &set_a_), of_b = set(b, &set_b_);
    return std::equal(of_a.begin(), of_a.end(), of_b.begin(), of_b.end());
}

FeatureHashes Documents::set(RowNumber row, SetBuffer* buffer) {
    // Verification takes candidates in an order in which the same document often comes again.
    if (buffer->document != row) {
        Document document = documents_[row];
        if (buffer->capacity < document.features) {
            if (buffer->hashes != nullptr)
                pfree(buffer->hashes);
            // A quarter is added, so that a slightly larger set does not allocate again.
            buffer->capacity = document.features + document.features / 4;
            buffer->hashes = allocate<uint64_t>(buffer->context, buffer->capacity);
        }
        sets_.read(document.set, buffer->hashes, document.features * sizeof(uint64_t));
        buffer->count = document.features;
        buffer->document = row;
    }
    return {buffer->hashes, buffer->count};
}

void Documents::release() {
    features_.release();
    documents_.close();
    sets_.close();
}

} // namespace simhash
