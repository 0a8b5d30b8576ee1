// The near-duplicates among documents: pairs whose fingerprints lie within the radius of the
// similarity and whose sets of features are at least that similar.
//
//   documents --by set--> models --by fingerprint--> fingerprints --near pairs--> candidates
//                         (copies are linked)        (each once)                  --sets--> pairs
//
// 1. Documents with equal sets come together by a hash of the set; then the sets are compared. The
//    first of them is the model, and only models are searched, however many copies they have.
// 2. The distinct fingerprints of the models are searched for near pairs (core/pairs). Two models
//    with near or equal fingerprints are a candidate, unless their sizes alone exclude the
//    similarity.
// 3. Candidates are collected up to a limit of memory and then verified in an order in which their
//    sets are read nearly in sequence: by the parts of the file in which the sets of the two are,
//    where some parts fit into memory together.
//
// For groups a candidate whose documents are linked already is dropped, and so are all candidates
// of two fingerprints at once where the documents of each are linked.
#include "tables/near_documents.hpp"

#include <algorithm>

#include "core/bits/distance.hpp"
#include "core/text/document_lanes.hpp"
#include "tables/collector.hpp"
#include "tables/lane_directory.hpp"

namespace simhash {
namespace {

// The models that have a certain fingerprint. If there is only one, its number stands in the place
// of where they are.
struct FingerprintModels {
    uint64_t fingerprint;
    uint32_t first; // among the models in order of their fingerprints
    uint32_t count : 31;
    uint32_t are_linked : 1; // all of them to each other, as far as that was noted
};
static_assert(kMostDocuments < uint32_t{1} << 31, "count has 31 bits");

// A document to which all models of a fingerprint were linked when that was noted. They still are,
// as groups only grow.
struct LinkedFingerprint {
    uint64_t fingerprint;
    DocumentNumber document;
};

// The models whose sets have a certain hash: as good as always one.
struct ModelsOfHash {
    struct Model {
        DocumentNumber number, last_copy;
    };

    uint64_t hash = 0;
    size_t count = 0, capacity = 4;
    Model* models = allocate<Model>(CurrentMemoryContext, capacity);

    void add(DocumentNumber number) {
        if (count == capacity)
            models = resize(models, capacity *= 2);
        models[count++] = {number, number};
    }
};

class Search {
  public:
    // links is null where all pairs are wanted.
    Search(Documents* documents, PagePool* pool, size_t memory, double similarity,
           DocumentLinks* links, const NearDocumentsReceiver& receiver)
        : documents_(*documents), links_(links), receiver_(receiver), memory_(memory),
          similarity_(similarity), radius_(near_radius(similarity)),
          part_bytes_(pool->memory_bytes() / 4), models_(pool), fingerprints_(pool),
          collector_(Collector::within(CurrentMemoryContext, memory / 2)),
          candidates_(memory / 3), set_a_{CurrentMemoryContext}, set_b_{CurrentMemoryContext} {}

    void run() {
        ExternalSorter<Entry> by_fingerprint(memory_ / 3);
        find_models(&by_fingerprint);
        group_by_fingerprint(&by_fingerprint);
        if (similarity_ < 1) { // else only copies are near-duplicates
            make_directory();
            search_equal_fingerprints();
            find_pairs(&collector_, nullptr, radius_, {receive_pair, nullptr, this});
            verify_candidates();
        }
        collector_.release();
        candidates_.release();
        fingerprints_.close();
        models_.close();
    }

  private:
    static constexpr uint64_t kFewPairs = 64; // pairs of models that are looked at one by one

    // ---- models and copies ----

    void find_models(ExternalSorter<Entry>* by_fingerprint);
    bool add_to_copies(DocumentNumber number, ModelsOfHash* of_hash);
    bool have_equal_sets(DocumentNumber a, DocumentNumber b);
    void group_by_fingerprint(ExternalSorter<Entry>* by_fingerprint);
    void add_fingerprint(uint64_t fingerprint, size_t first);

    // ---- candidates ----

    void make_directory();
    size_t place_of(uint64_t fingerprint);
    DocumentNumber model(const FingerprintModels& of, size_t i) {
        return of.count == 1 ? of.first : models_[of.first + i];
    }
    void search_equal_fingerprints();
    template <typename Step>
    void each_shared_fingerprint(const Step& step);
    void search_among(const FingerprintModels& of);
    void link_to_first(const FingerprintModels& of);
    void link_among(size_t place, FingerprintModels of);
    DocumentNumber frequent_original(const FingerprintModels& of);
    bool note_whether_linked(size_t place, FingerprintModels* of);
    static void receive_pair(void* search, uint64_t a, uint64_t b);
    LinkedFingerprint* noted_link(uint64_t fingerprint);
    bool are_noted_as_linked(uint64_t a, uint64_t b);
    bool are_linked_by_models(const FingerprintModels& a, const FingerprintModels& b);
    void search_between(size_t place_a, size_t place_b);
    void add_candidate(DocumentNumber a, DocumentNumber b);

    // ---- verification ----

    bool are_linked(DocumentNumber a, DocumentNumber b) {
        return links_ != nullptr && links_->are_linked(a, b);
    }
    void verify_candidates();
    void verify(DocumentNumber a, DocumentNumber b);

    Documents& documents_;
    DocumentLinks* links_;
    NearDocumentsReceiver receiver_;
    size_t memory_;
    double similarity_;
    int radius_;
    size_t part_bytes_;                          // of the sets, several of which fit into memory
    PagedArray<DocumentNumber> models_;          // in order of their fingerprints
    PagedArray<FingerprintModels> fingerprints_; // in order
    Collector collector_;                        // the fingerprints, for their search
    SortBuffer<Entry> candidates_;               // (parts of the sets of a and b, a and b)
    SetBuffer set_a_, set_b_;
    LaneDirectory directory_;                  // of fingerprints_
    LinkedFingerprint* noted_links_ = nullptr; // [directory_.beginnings()], by a hash; for groups
};

// ---- models and copies ----

void Search::find_models(ExternalSorter<Entry>* by_fingerprint) {
    ExternalSorter<Entry>& by_set = documents_.by_set();
    ModelsOfHash of_hash;
    by_set.finish();
    for (Entry entry{}; by_set.next(&entry);) {
        CHECK_FOR_INTERRUPTS();
        auto number = DocumentNumber(entry.tid);
        // Equal hashes come one after another, in order of the documents' numbers. So the first
        // document with a set is met first, and becomes the model.
        if (entry.key != of_hash.hash)
            of_hash.count = 0;
        of_hash.hash = entry.key;
        if (add_to_copies(number, &of_hash))
            continue;
        of_hash.add(number);
        by_fingerprint->add({documents_[number].fingerprint, number});
    }
    by_set.release();
}

// Adds the document to the copies of the model whose set it has. False if there is none.
bool Search::add_to_copies(DocumentNumber number, ModelsOfHash* of_hash) {
    for (size_t i = 0; i < of_hash->count; i++) {
        ModelsOfHash::Model& model = of_hash->models[i];
        if (!have_equal_sets(model.number, number))
            continue;
        // The list of copies is in order of their numbers. last_copy saves walking to its end.
        documents_.set_next_copy(model.last_copy, number);
        model.last_copy = number;
        if (links_ != nullptr)
            links_->link(model.number, number);
        return true;
    }
    return false;
}

bool Search::have_equal_sets(DocumentNumber a, DocumentNumber b) {
    FeatureHashes of_a = documents_.set(a, &set_a_), of_b = documents_.set(b, &set_b_);
    return std::equal(of_a.begin(), of_a.end(), of_b.begin(), of_b.end());
}

void Search::group_by_fingerprint(ExternalSorter<Entry>* by_fingerprint) {
    uint64_t fingerprint = 0;
    size_t first = 0;
    by_fingerprint->finish();
    for (Entry entry{}; by_fingerprint->next(&entry);) {
        CHECK_FOR_INTERRUPTS();
        // A fingerprint ends here: its models are those from `first` on.
        if (entry.key != fingerprint && models_.size() > first) {
            add_fingerprint(fingerprint, first);
            first = models_.size();
        }
        fingerprint = entry.key;
        models_.add(DocumentNumber(entry.tid));
    }
    if (models_.size() > first)
        add_fingerprint(fingerprint, first);
    by_fingerprint->release();
    collector_.finish();
}

// Its models are those from `first` on.
void Search::add_fingerprint(uint64_t fingerprint, size_t first) {
    // With one model its number stands here directly, which saves a look into models_.
    size_t count = models_.size() - first;
    uint32_t where = count == 1 ? models_[first] : uint32_t(first);
    // A single model counts as linked.
    fingerprints_.add({fingerprint, where, uint32_t(count), count == 1});
    collector_.add(fingerprint);
}

// ---- candidates ----

void Search::make_directory() {
    constexpr size_t kShare = 16; // of the memory
    directory_.make(fingerprints_.size(), memory_ / kShare,
                    [&](size_t i) { return fingerprints_[i].fingerprint; });
    if (links_ == nullptr)
        return;
    // There is a slot for each beginning. This is a cache, whose slots are overwritten. It answers
    // without a look into the paged arrays.
    noted_links_ = allocate<LinkedFingerprint>(CurrentMemoryContext, directory_.beginnings());
    std::fill_n(noted_links_, directory_.beginnings(), LinkedFingerprint{0, kNoDocument});
}

// The place of a fingerprint, which is there, among all of them.
size_t Search::place_of(uint64_t fingerprint) {
    return directory_.place_of(fingerprint, [&](size_t i) { return fingerprints_[i].fingerprint; });
}

// Calls step(place, models) for the fingerprints of more than one model.
template <typename Step>
void Search::each_shared_fingerprint(const Step& step) {
    for (size_t place = 0; place < fingerprints_.size(); place++) {
        CHECK_FOR_INTERRUPTS();
        FingerprintModels of = fingerprints_[place];
        if (of.count > 1)
            step(place, of);
    }
}

// For groups, a comparison of each model with the first of its fingerprint is mostly all.
void Search::search_equal_fingerprints() {
    if (links_ == nullptr) {
        each_shared_fingerprint([&](size_t, const FingerprintModels& of) { search_among(of); });
        return;
    }
    // The candidates of this step are verified before the next step, which needs to know who is
    // linked.
    each_shared_fingerprint([&](size_t, const FingerprintModels& of) { link_to_first(of); });
    verify_candidates();
    each_shared_fingerprint(
        [&](size_t place, const FingerprintModels& of) { link_among(place, of); });
}

void Search::search_among(const FingerprintModels& of) {
    for (size_t i = 0; i < of.count; i++)
        for (size_t j = i + 1; j < of.count; j++)
            add_candidate(model(of, i), model(of, j));
}

void Search::link_to_first(const FingerprintModels& of) {
    for (size_t i = 1; i < of.count; i++)
        add_candidate(model(of, 0), model(of, i));
}

// Compares the models that are outside of the largest group with all. Where most are in that group,
// as after link_to_first(), these are few. A document does not leave the group. So one that is
// outside now was outside before, and has been compared with those that follow it.
void Search::link_among(size_t place, FingerprintModels of) {
    if (note_whether_linked(place, &of))
        return;
    DocumentNumber frequent = frequent_original(of);
    for (size_t i = 0; i < of.count; i++) {
        DocumentNumber a = model(of, i);
        if (are_linked(a, frequent))
            continue;
        for (size_t j = 0; j < of.count; j++) {
            DocumentNumber b = model(of, j);
            // With j < i, a b outside of the largest group was compared with `a` when its own turn
            // came.
            if (j > i || (j < i && are_linked(b, frequent)))
                add_candidate(a, b);
        }
    }
}

// The original of more than half of the models, if there is one; else of some of them (the majority
// vote of Boyer and Moore).
DocumentNumber Search::frequent_original(const FingerprintModels& of) {
    DocumentNumber frequent = kNoDocument;
    for (size_t i = 0, votes = 0; i < of.count; i++) {
        DocumentNumber original = links_->original_of(model(of, i));
        if (votes == 0)
            frequent = original;
        // A model of another group cancels a vote. A group with more than half of the models has
        // votes left at the end.
        original == frequent ? votes++ : votes--;
    }
    return frequent;
}

// Whether all models of the fingerprint are linked. If so, that is noted.
bool Search::note_whether_linked(size_t place, FingerprintModels* of) {
    if (of->are_linked)
        return true;
    for (size_t i = 1; i < of->count; i++)
        if (!are_linked(model(*of, 0), model(*of, i)))
            return false;
    of->are_linked = true;
    fingerprints_.set(place, *of);
    return true;
}

void Search::receive_pair(void* search, uint64_t a, uint64_t b) {
    auto* self = static_cast<Search*>(search);
    if (!self->are_noted_as_linked(a, b))
        // This takes two searches in the directory, so the cache is asked first.
        self->search_between(self->place_of(a), self->place_of(b));
}

LinkedFingerprint* Search::noted_link(uint64_t fingerprint) {
    constexpr uint64_t kSpread = 0x9E3779B97F4A7C15; // near fingerprints have different hashes
    return noted_links_ + (fingerprint * kSpread >> (kFingerprintBits - directory_.bits()));
}

// Answers for most pairs of a large group, whose number grows with the square of its size.
bool Search::are_noted_as_linked(uint64_t a, uint64_t b) {
    if (links_ == nullptr)
        return false;
    const LinkedFingerprint *of_a = noted_link(a), *of_b = noted_link(b);
    // The noted documents are equal if both were noted with the same original. If groups have
    // merged since, this may say no, which costs the look-ups below, and no mistake.
    return of_a->fingerprint == a && of_b->fingerprint == b && of_a->document == of_b->document;
}

// Whether the models of two fingerprints are all linked. Expects that those of each are.
bool Search::are_linked_by_models(const FingerprintModels& a, const FingerprintModels& b) {
    DocumentNumber of_a = links_->original_of(model(a, 0)), of_b = links_->original_of(model(b, 0));
    // The notes are written whether these are linked to each other or not: the next pair with one
    // of them may be.
    *noted_link(a.fingerprint) = {a.fingerprint, of_a};
    *noted_link(b.fingerprint) = {b.fingerprint, of_b};
    return of_a == of_b;
}

void Search::search_between(size_t place_a, size_t place_b) {
    FingerprintModels a = fingerprints_[place_a], b = fingerprints_[place_b];
    // For few pairs the question, which looks at every model, costs as much as the pairs.
    if (links_ != nullptr && uint64_t(a.count) * b.count > kFewPairs) {
        note_whether_linked(place_a, &a);
        note_whether_linked(place_b, &b);
        if (!b.are_linked)
            // The inner loop can be left out for a whole set of models that are linked: that one
            // should be b.
            std::swap(a, b);
    }
    if (links_ != nullptr && a.are_linked && b.are_linked && are_linked_by_models(a, b))
        return;
    for (size_t i = 0; i < a.count; i++) {
        DocumentNumber of_a = model(a, i);
        // of_a is linked to one model of b, so to all.
        if (b.are_linked && b.count > 1 && are_linked(of_a, model(b, 0)))
            continue;
        for (size_t j = 0; j < b.count; j++)
            add_candidate(of_a, model(b, j));
    }
}

void Search::add_candidate(DocumentNumber a, DocumentNumber b) {
    CHECK_FOR_INTERRUPTS();
    if (are_linked(a, b))
        return;
    Document of_a = documents_[a], of_b = documents_[b];
    // The similarity is at most the size of the smaller set divided by that of the larger one.
    double fewer = std::min(of_a.features, of_b.features);
    double more = std::max(of_a.features, of_b.features);
    if (fewer / more < similarity_)
        return;
    if (candidates_.is_full())
        verify_candidates();
    // The pair is given in this order, whatever the order of the fingerprints.
    if (a > b) {
        std::swap(a, b);
        std::swap(of_a, of_b);
    }
    // They are sorted by the part of a, then of b: while the pairs of two parts are verified, both
    // are in memory.
    candidates_.add({of_a.set / part_bytes_ << 32 | of_b.set / part_bytes_, uint64_t(a) << 32 | b});
}

// ---- verification ----

void Search::verify_candidates() {
    candidates_.sort();
    for (const Entry& candidate : candidates_.entries()) {
        CHECK_FOR_INTERRUPTS();
        verify(DocumentNumber(candidate.tid >> 32), DocumentNumber(candidate.tid));
    }
    candidates_.clear();
}

void Search::verify(DocumentNumber a, DocumentNumber b) {
    if (are_linked(a, b))
        return;
    FeatureHashes of_a = documents_.set(a, &set_a_), of_b = documents_.set(b, &set_b_);
    if (!is_set_similarity_at_least(of_a, of_b, similarity_))
        return;
    if (links_ != nullptr) {
        links_->link(a, b);
        return;
    }
    double similarity;
    // The test above stops as soon as the answer is sure, so the number is computed only for pairs.
    set_similarity(of_a, of_b, &similarity);
    receiver_.pair(receiver_.context, a, b, similarity);
}

} // namespace

void find_near_documents(Documents* documents, PagePool* pool, size_t memory, double similarity,
                         const NearDocumentsReceiver& receiver) {
    Search(documents, pool, memory, similarity, nullptr, receiver).run();
}

void link_near_documents(Documents* documents, PagePool* pool, size_t memory, double similarity,
                         DocumentLinks* links) {
    Search(documents, pool, memory, similarity, links, {}).run();
}

} // namespace simhash
