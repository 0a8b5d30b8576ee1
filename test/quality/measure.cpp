// The quality bench: how well fingerprints of several forms tell near-duplicates, on corpora of
// real documents.
//
//   measure CORPUS...      each a file of documents that end in a NUL byte
//   measure --found CORPUS what near_duplicate() and MinHash find of one of any size (print_found())
//
// Truth 1: pairs of documents by exact similarity (truth.hpp): J >= 0.8 is a near-duplicate
// ("near"), J < 0.5 is not ("others"); what lies between counts for neither ("between").
// Truth 2: copies of documents with edits of known kind (edits.hpp).
// Of script-* only recall is measured.
//
// Prints lines of fields separated by tabs, for report.py. A triple is "near,between,others": the
// pairs that were found, by what they are in truth. Triples are by radius, 0 to 12; in forms of 128 and
// 256 bits by its double and its fourfold.
//   corpus     CORPUS  documents  bytes  near  between
//   counts     CORPUS  FORM  triples
//   trial      CORPUS  TRIAL  HASH  triples
//   total      CORPUS  REPLICATE  near
//   resampled  CORPUS  FORM  REPLICATE  triples
//   minhash    CORPUS  METHOD  signatures' seconds  triple  its replicates' triples
//   refusals   CORPUS  FORM  RADIUS  documents refused, wrongly, admitted though near
//   recall, similar, edited: recall.hpp
//   seconds    CORPUS  FORM  of all its fingerprints
//   length     CORPUS  FORM  bytes  near of that length  near within 0 ... within 12
//   distances  CORPUS  FORM  near at 0..64, others at 0..64
//   ones       CORPUS  FORM  share of fingerprints with a 1, bit 63 first
//   leading    CORPUS  FORM  distinct values of the first 16 bits / of the best possible
//   edit       CORPUS  FORM  EDIT  share within 0  ...  share within 12
//   strangers  -       FORM  pairs of documents of different kinds  within 0 ... within 12
#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <map>
#include <numeric>
#include <string>
#include <unordered_set>
#include <vector>

#include "distances.hpp"
#include "documents.hpp"
#include "edits.hpp"
#include "forms.hpp"
#include "minhash.hpp"
#include "recall.hpp"
#include "resample.hpp"
#include "truth.hpp"

using namespace quality;

namespace {

template <typename Work>
double seconds(Work work) {
    const auto start = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void print_triples(const Counts& counts) {
    for (int k = 0; k < kRadii; k++)
        printf("\t%.0f,%.0f,%.0f", counts.near[k], counts.between[k], counts.others[k]);
}

// ---- one form on one corpus ----

struct Measured {
    const Corpus& corpus;
    const Truth& truth;
    const Replicates& replicates;
};

void print_distances(const char* corpus, const char* form, const Distances& distances) {
    printf("distances\t%s\t%s", corpus, form);
    for (const long pairs : distances.near)
        printf("\t%ld", pairs);
    for (int d = 0; d <= 64; d++)
        printf("\t%ld", distances.all[d] - distances.near[d] - distances.between[d]);
    printf("\n");
}

// Of codes of several words, the first.
void print_bits(const char* corpus, const char* form, const Codes& codes) {
    Fingerprints fps;
    for (size_t i = 0; i < codes.size(); i++)
        fps.push_back(*codes[i]);
    printf("ones\t%s\t%s", corpus, form);
    for (int bit = 63; bit >= 0; bit--) {
        long ones = 0;
        for (const uint64_t fp : fps)
            ones += fp >> bit & 1;
        printf("\t%.3f", double(ones) / fps.size());
    }
    std::unordered_set<uint64_t> distinct(fps.begin(), fps.end()), leading;
    for (const uint64_t fp : fps)
        leading.insert(fp >> 48);
    printf("\nleading\t%s\t%s\t%zu\t%.0f\n", corpus, form, leading.size(),
           65536 * (1 - std::exp(-double(distinct.size()) / 65536)));
}

// Near-duplicates by the bytes of the shorter document, up to each of these.
constexpr size_t kLengths[] = {150, 400, 1000, 3000, 10000, size_t(-1)};

void print_lengths(const Measured& on, const char* form, const Codes& codes) {
    size_t least = 0;
    for (const size_t greatest : kLengths) {
        Pairs pairs;
        for (const auto& [a, b] : on.truth.near) {
            const size_t bytes =
                std::min(on.corpus.documents[a].size(), on.corpus.documents[b].size());
            if (bytes > least && bytes <= greatest)
                pairs.push_back({a, b});
        }
        const Histogram of_length = histogram(codes, pairs);
        printf("length\t%s\t%s\t%zu\t%zu", on.corpus.name.c_str(), form, least, pairs.size());
        long within = 0;
        for (int k = 0; k < kRadii; k++)
            printf("\t%ld", within += of_length[k]);
        printf("\n");
        least = greatest;
    }
}

// What is measured of a constraint: the forms and radii that one might take.
bool is_for_constraints(const std::string& form) {
    return form.starts_with("default") || form == "word 3-shingles, binary" || form == "minhash";
}

void print_refusals(const Measured& on, const char* form, const Codes& codes) {
    for (int radius = 1; radius < kRadii; radius++) {
        const Refusals counted = refusals(codes, on.truth, radius);
        printf("refusals\t%s\t%s\t%d\t%d\t%d\t%d\n", on.corpus.name.c_str(), form, radius,
               counted.refused, counted.wrongly, counted.admitted);
    }
}

void measure_form(const Measured& on, const char* form, const Codes& codes) {
    const char* corpus = on.corpus.name.c_str();
    const Distances distances(codes, on.truth);
    printf("counts\t%s\t%s", corpus, form);
    print_triples(distances.counts());
    printf("\n");
    for (int r = 0; r < kReplicates; r++) {
        printf("resampled\t%s\t%s\t%d", corpus, form, r);
        print_triples(distances.resampled(on.replicates[r]));
        printf("\n");
    }
    print_lengths(on, form, codes);
    print_distances(corpus, form, distances);
    print_bits(corpus, form, codes);
    if (is_for_constraints(form))
        print_refusals(on, form, codes);
}

void measure_trials(const Measured& on) {
    const std::vector<Trial> all = trials();
    for (int hash = 0; hash < kTrialHashes; hash++) {
        const std::vector<Fingerprints> fps = trial_fingerprints(on.corpus.documents, all, hash);
        for (size_t i = 0; i < all.size(); i++) {
            printf("trial\t%s\t%s\t%d", on.corpus.name.c_str(), all[i].name().c_str(), hash);
            print_triples(Distances({1, fps[i]}, on.truth).counts());
            printf("\n");
        }
    }
}

// ---- MinHash ----

void print_found(const Measured& on, const std::string& method, double signing,
                 const Pairs& found) {
    const auto intersection = [](const Pairs& a, const Pairs& b) {
        Pairs both;
        std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
        return both;
    };
    const auto sorted = [](Pairs pairs) {
        std::sort(pairs.begin(), pairs.end());
        return pairs;
    };
    const Pairs near = intersection(found, sorted(on.truth.near));
    const Pairs between = intersection(found, sorted(on.truth.between));
    printf("minhash\t%s\t%s\t%.6f", on.corpus.name.c_str(), method.c_str(), signing);
    printf("\t%zu,%zu,%zu", near.size(), between.size(),
           found.size() - near.size() - between.size());
    for (int r = 0; r < kReplicates; r++) {
        const double of_near = on.replicates.pairs(r, near);
        const double of_between = on.replicates.pairs(r, between);
        printf("\t%.0f,%.0f,%.0f", of_near, of_between,
               on.replicates.pairs(r, found) - of_near - of_between);
    }
    printf("\n");
}

void measure_minhash(const Measured& on, const std::vector<Shingles>& sets) {
    std::vector<Signature> signatures;
    const double signing = seconds([&] {
        for (const Shingles& set : sets)
            signatures.push_back(signature(set));
    });
    for (const Banding& banding : {banding_for(0.8), Banding{16, 8}}) {
        const std::string method =
            std::to_string(banding.bands) + " bands of " + std::to_string(banding.rows);
        const Pairs found = candidates(signatures, banding);
        print_found(on, method, signing, found);
        Pairs similar;
        for (const auto& [a, b] : found)
            if (estimate(signatures[a], signatures[b]) >= 0.8)
                similar.push_back({a, b});
        print_found(on, method + ", estimate", signing, similar);
    }
}

// ---- edits ----

constexpr size_t kEditedDocuments = 100; // of a corpus

// What is edited is shown for the forms up to the peers'.
constexpr size_t kEditedForms = 9;

void measure_edits(const Corpus& corpus) {
    Editor editor(corpus);
    const size_t all = corpus.documents.size(), count = std::min(kEditedDocuments, all);
    Documents originals;
    for (size_t i = 0; i < count; i++)
        originals.push_back(corpus.documents[i * all / count]);
    const auto each = [&](const char* edit, auto change) {
        Documents edited;
        for (const std::string& original : originals)
            edited.push_back(change(original));
        const std::vector<Form> shown = forms();
        for (size_t f = 0; f < kEditedForms; f++) {
            const Fingerprints before = fingerprints(originals, shown[f].options);
            const Fingerprints after = fingerprints(edited, shown[f].options);
            Histogram counted{};
            for (size_t i = 0; i < before.size(); i++)
                counted[std::popcount(before[i] ^ after[i])]++;
            printf("edit\t%s\t%s\t%s", corpus.name.c_str(), shown[f].name.c_str(), edit);
            long within = 0;
            for (int k = 0; k < kRadii; k++)
                printf("\t%.4f", double(within += counted[k]) / before.size());
            printf("\n");
        }
    };
    each("3 tokens changed", [&](const auto& t) { return editor.replace_words(t, 3, true); });
    each("advertisement of 20 words", [&](const auto& t) { return editor.add_advertisement(t); });
    each("1 % of words replaced", [&](const auto& t) { return editor.replace_share(t, 0.01); });
    each("5 % of words replaced", [&](const auto& t) { return editor.replace_share(t, 0.05); });
    each("one line deleted", [&](const auto& t) { return editor.delete_line(t); });
    each("white space, case, punctuation", [](const auto& t) { return Editor::change_dress(t); });
    each("HTML tags around", [](const auto& t) { return Editor::wrap_in_html(t); });
}

// ---- all corpora ----

// Fingerprints of some documents of each corpus, by form: documents of different kinds are no
// near-duplicates, and of such pairs there are very many.
class Strangers {
  public:
    void add(const std::string& form, const std::string& corpus, const Codes& codes) {
        const std::string kind = corpus.substr(0, corpus.find('-'));
        if (kind == "pieces" || kind == "unseen") // pieces are of documents of other kinds
            return;
        std::vector<Codes>& of_form = samples_.try_emplace(form).first->second[kind];
        const size_t words = std::min(codes.size(), kSample) * codes.words;
        of_form.push_back({codes.words, {codes.all.begin(), codes.all.begin() + words}});
    }

    void print() const {
        for (const auto& [form, by_kind] : samples_) {
            Histogram at{};
            for (auto a = by_kind.begin(); a != by_kind.end(); a++)
                for (auto b = by_kind.begin(); b != a; b++)
                    for (const Codes& of_a : a->second)
                        for (const Codes& of_b : b->second)
                            add_distances(of_a, of_b, at);
            printf("strangers\t-\t%s\t%ld", form.c_str(),
                   std::accumulate(at.begin(), at.end(), 0L));
            long within = 0;
            for (int k = 0; k < kRadii; k++)
                printf("\t%ld", within += at[k]);
            printf("\n");
        }
    }

  private:
    static constexpr size_t kSample = 1000; // documents of a corpus

    std::map<std::string, std::map<std::string, std::vector<Codes>>> samples_;
};

void print_corpus(const Corpus& corpus, const Truth& truth) {
    size_t bytes = 0;
    for (const std::string& document : corpus.documents)
        bytes += document.size();
    printf("corpus\t%s\t%zu\t%zu\t%zu\t%zu\n", corpus.name.c_str(), corpus.documents.size(), bytes,
           truth.near.size(), truth.between.size());
}

void measure(const std::string& path, Strangers& strangers) {
    const Corpus corpus = read_corpus(path);
    if (!corpus.before.empty()) { // dressed documents
        print_corpus(corpus, find_truth(word_shingles(corpus.before)));
        print_recall(corpus);
        return;
    }
    const std::vector<Shingles> sets = shingles_of(corpus);
    const Truth truth = find_truth(sets);
    const Replicates replicates(corpus.documents.size());
    const Measured on{corpus, truth, replicates};
    print_corpus(corpus, truth);
    for (int r = 0; r < kReplicates; r++)
        printf("total\t%s\t%d\t%.0f\n", corpus.name.c_str(), r, replicates.pairs(r, truth.near));
    for (const Form& form : forms()) {
        Codes of_corpus;
        const double spent = seconds([&] { of_corpus = codes(corpus.documents, form); });
        printf("seconds\t%s\t%s\t%.6f\n", corpus.name.c_str(), form.name.c_str(), spent);
        measure_form(on, form.name.c_str(), of_corpus);
        strangers.add(form.name, corpus.name, of_corpus);
    }
    measure_minhash(on, sets);
    print_recall(corpus);
    if (!corpus.name.starts_with("unseen")) { // no weighting is chosen on these
        measure_trials(on);
        measure_edits(corpus);
    }
    fflush(stdout);
}

} // namespace

int main(int arguments, char** paths) {
    if (arguments == 3 && std::string_view(paths[1]) == "--found") {
        print_found(paths[2]);
        return 0;
    }
    Strangers strangers;
    for (int i = 1; i < arguments; i++)
        measure(paths[i], strangers);
    strangers.print();
}
