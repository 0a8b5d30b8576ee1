// From a text to what is known of a document: its lanes, and its coded words, of which its set can
// be made again (core/text/coded_words.hpp).
#pragma once

#include "core/text/coded_words.hpp"
#include "core/text/document_lanes.hpp"
#include "core/text/feature_set.hpp"
#include "server/arguments.hpp"
#include "server/server_text.hpp"
#include "tables/query_rows.hpp"
#include "values/text/shingle_set.hpp"

namespace simhash {

struct CutDocument {
    DocumentLanes lanes;
    uint64_t set_hash;   // equal sets have equal ones
    uint32_t features;   // how many; a document without features has no lanes and no hash
    uint32_t word_bytes; // of its coded words; 0 where its set is kept
};

// What is known of the document that has this set.
CutDocument document_of(FeatureHashes set);

class TextCutter {
  public:
    // In the current memory context. table_bytes: for the table of words
    explicit TextCutter(size_t table_bytes)
        : table_(server_memory(), table_bytes), coder_(server_memory(), &table_),
          set_(server_memory()) {}

    CutDocument cut(const text* document);
    // Of the last document that was cut.
    std::span<const uint8_t> words() const { return coder_.coded(); }

    // Room for coded words, to be copied there.
    uint8_t* room(size_t bytes) { return coder_.room(bytes); }
    // The set of the document whose words have been copied there, coded by this table.
    FeatureHashes set_by(const WordTable& table);

    const WordTable& table() const { return table_; }

  private:
    static constexpr size_t kFew = 1024;

    CutDocument document_of_few();

    WordTable table_;
    WordCoder coder_;
    FeatureSet set_;
    uint64_t places_[4 * kFew]; // a hash table of the set's hashes, if they are few
};

// ---- workers ----

// Background workers that cut the texts of a query, while this backend runs the query:
//
//     this backend    rows of the query --batches of texts--> queue --> worker
//                     documents <---------------------------- queue <--
//
// A text goes to a worker that has room for it; when all have enough to do, the caller cuts it. So
// nobody waits, whatever the plan of the query and the order of its rows are, and it does not
// matter when workers start, or whether. They are no parallel workers of the transaction, which
// would forbid the query's functions much, and they need no database: a text is all that a cutter
// reads. When this backend leaves, by an error or otherwise, the queues are gone, and the workers
// with them.

// Receives the documents, in no particular order.
class CutReceiver {
  public:
    // words: coded by the table of the worker
    virtual void add_cut(int worker, RowNumber row, const CutDocument& document,
                         const uint8_t* words) = 0;
    // Called for each worker after its last document.
    virtual void add_table(int worker, std::span<const uint8_t> words) = 0;
};

class CuttingWorkers {
  public:
    static constexpr int kMost = 8;

    // In the current memory context. table_bytes: for the table of words of each worker
    CuttingWorkers(size_t table_bytes, CutReceiver* receiver);

    // Gives the text to a worker. False if none has room for it. May call the receiver.
    bool add(RowNumber row, const text* document);

    // Waits for the documents that are still out, and ends the workers.
    void finish();

  private:
    struct Worker {
        shm_mq_handle* texts;
        shm_mq_handle* documents;
        int batches; // whose documents have not come

        // It may also never start.
        bool has_started() const {
            return shm_mq_get_sender(shm_mq_get_queue(documents)) != nullptr;
        }
    };

    void launch();
    void send_batch();
    void collect();
    bool receive(int worker, bool wait);

    MemoryContext context_;
    CutReceiver& receiver_;
    size_t table_bytes_;
    size_t texts_ = 0, given_ = 0; // that were added, and given to workers
    dsm_segment* segment_ = nullptr;
    int count_ = 0;
    Worker workers_[kMost];
    StringInfoData batch_; // for the worker that is being filled
    int filled_ = kNone;

    static constexpr int kNone = -1;
};

} // namespace simhash
