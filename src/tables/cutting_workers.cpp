// Cuts texts by workers. See cutting.hpp.
#include "tables/cutting.hpp"

#include <algorithm>
#include <dlfcn.h>

extern "C" {
PGDLLEXPORT void simhash_cut_texts(Datum segment);
}

namespace simhash {
namespace {

constexpr size_t kLeastTexts = 1000;            // fewer are cut before a worker has started
constexpr size_t kBatchBytes = size_t{1} << 16; // of texts
constexpr int kMostBatches = 2;                 // of a worker: one to cut, one that waits
// A batch may pass kBatchBytes by one text, so two of them take up to four times as much. What is
// known of short texts takes more than the texts.
constexpr size_t kTextsQueue = 5 * kBatchBytes, kDocumentsQueue = 8 * kBatchBytes;

// At the beginning of the shared memory; behind it are the two queues of each worker.
struct SharedCutting {
    size_t size; // of this: a worker may have loaded another version
    size_t table_bytes;
};

// Before each text in a batch, and before the coded words of each document. All are aligned.
struct TextHeader {
    RowNumber row;
    uint32 bytes;
};
struct DocumentHeader {
    RowNumber row;
    CutDocument document;
};

shm_mq* queue_of(dsm_segment* segment, int worker, bool is_of_texts) {
    return reinterpret_cast<shm_mq*>(
        static_cast<char*>(dsm_segment_address(segment)) + MAXALIGN(sizeof(SharedCutting)) +
        size_t(worker) * (kTextsQueue + kDocumentsQueue) + (is_of_texts ? 0 : kTextsQueue));
}

void append_aligned(StringInfo message, const void* header, size_t header_bytes, const void* data,
                    size_t bytes) {
    constexpr char kPadding[MAXIMUM_ALIGNOF] = {};
    appendBinaryStringInfoNT(message, static_cast<const char*>(header), int(header_bytes));
    appendBinaryStringInfoNT(message, static_cast<const char*>(data), int(bytes));
    appendBinaryStringInfoNT(message, kPadding,
                             int(MAXALIGN(header_bytes + bytes) - (header_bytes + bytes)));
}

// Calls take(header, data) for what append_aligned() has written; take returns the data's size.
template <typename Header, typename Take>
void each_aligned(const void* message, size_t bytes, const Take& take) {
    auto* at = static_cast<const char*>(message);
    for (const char* end = at + bytes; at < end;) {
        auto* header = reinterpret_cast<const Header*>(at);
        at += MAXALIGN(sizeof(Header) + take(*header, at + sizeof(Header)));
    }
}

// The file of this library, so that workers load the same.
bool set_library(BackgroundWorker* worker) {
    Dl_info library;
    return dladdr(reinterpret_cast<void*>(simhash_cut_texts), &library) != 0 &&
           strlcpy(worker->bgw_library_name, library.dli_fname, sizeof(worker->bgw_library_name)) <
               sizeof(worker->bgw_library_name);
}

// ---- the worker ----

void cut_batches(dsm_segment* segment, int number) {
    auto* shared = static_cast<SharedCutting*>(dsm_segment_address(segment));
    if (shared->size != sizeof(SharedCutting))
        return;
    shm_mq *in = queue_of(segment, number, true), *out = queue_of(segment, number, false);
    shm_mq_set_receiver(in, MyProc);
    shm_mq_set_sender(out, MyProc);
    shm_mq_handle* texts = shm_mq_attach(in, segment, nullptr);
    shm_mq_handle* documents = shm_mq_attach(out, segment, nullptr);
    TextCutter cutter(shared->table_bytes);
    StringInfoData batch;
    initStringInfo(&batch);
    Size bytes;
    void* message;
    // Where the other side has left, the queue says so.
    while (shm_mq_receive(texts, &bytes, &message, false) == SHM_MQ_SUCCESS && bytes > 0) {
        resetStringInfo(&batch);
        each_aligned<TextHeader>(message, bytes, [&](const TextHeader& header, const char* data) {
            CHECK_FOR_INTERRUPTS();
            DocumentHeader cut = {header.row, cutter.cut(reinterpret_cast<const text*>(data))};
            append_aligned(&batch, &cut, sizeof(cut), cutter.words().data(),
                           cut.document.word_bytes);
            return header.bytes;
        });
        shm_mq_send(documents, size_t(batch.len), batch.data, false, true);
    }
    std::span<const uint8_t> words = cutter.table().bytes();
    shm_mq_send(documents, words.size(), words.data(), false, true);
}

} // namespace

// ---- the backend that runs the query ----

CuttingWorkers::CuttingWorkers(size_t table_bytes, CutReceiver* receiver)
    : context_(CurrentMemoryContext), receiver_(*receiver), table_bytes_(table_bytes) {
    initStringInfo(&batch_);
}

void CuttingWorkers::launch() {
    int encoding = GetDatabaseEncoding();
    int wanted = std::min(max_parallel_workers_per_gather, kMost);
    BackgroundWorker worker = {};
    // A worker without a database cannot convert a text to UTF-8.
    if ((encoding != PG_UTF8 && encoding != PG_SQL_ASCII) || wanted <= 0 || IsParallelWorker() ||
        !IsUnderPostmaster || !set_library(&worker))
        return;
    segment_ = dsm_create(MAXALIGN(sizeof(SharedCutting)) +
                              size_t(wanted) * (kTextsQueue + kDocumentsQueue),
                          DSM_CREATE_NULL_IF_MAXSEGMENTS);
    if (segment_ == nullptr)
        return;
    *static_cast<SharedCutting*>(dsm_segment_address(segment_)) = {sizeof(SharedCutting),
                                                                   table_bytes_};
    strlcpy(worker.bgw_name, "simhash cutting worker", sizeof(worker.bgw_name));
    strlcpy(worker.bgw_type, worker.bgw_name, sizeof(worker.bgw_type));
    strlcpy(worker.bgw_function_name, "simhash_cut_texts", sizeof(worker.bgw_function_name));
    worker.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_CLASS_PARALLEL;
    worker.bgw_start_time = BgWorkerStart_ConsistentState;
    worker.bgw_restart_time = BGW_NEVER_RESTART;
    worker.bgw_notify_pid = MyProcPid;
    worker.bgw_main_arg = UInt32GetDatum(dsm_segment_handle(segment_));
    for (int i = 0; i < wanted; i++) {
        shm_mq* texts = shm_mq_create(queue_of(segment_, i, true), kTextsQueue);
        shm_mq* documents = shm_mq_create(queue_of(segment_, i, false), kDocumentsQueue);
        shm_mq_set_sender(texts, MyProc);
        shm_mq_set_receiver(documents, MyProc);
        memcpy(worker.bgw_extra, &i, sizeof(i));
        BackgroundWorkerHandle* process;
        // max_parallel_workers or max_worker_processes may allow no more.
        if (!RegisterDynamicBackgroundWorker(&worker, &process))
            return;
        workers_[count_++] = {shm_mq_attach(texts, segment_, process),
                              shm_mq_attach(documents, segment_, process), 0};
    }
}

bool CuttingWorkers::add(RowNumber row, const text* document) {
    size_t bytes = VARSIZE_ANY(document);
    if (++texts_ == kLeastTexts) {
        // The handles of workers and queues outlive the row.
        MemoryContext caller = MemoryContextSwitchTo(context_);
        launch();
        MemoryContextSwitchTo(caller);
    }
    if (count_ == 0 || bytes > kBatchBytes)
        return false;
    if (filled_ == kNone)
        collect();
    for (int i = 0; i < count_ && filled_ == kNone; i++)
        if (workers_[i].batches < kMostBatches && workers_[i].has_started())
            filled_ = i;
    if (filled_ == kNone)
        return false;
    given_++;
    TextHeader header = {row, uint32(bytes)};
    append_aligned(&batch_, &header, sizeof(header), document, bytes);
    if (size_t(batch_.len) >= kBatchBytes)
        send_batch();
    return true;
}

void CuttingWorkers::send_batch() {
    Worker& worker = workers_[filled_];
    // The queue frees what the worker has read some time later, so it may be full. The worker may
    // wait to write documents meanwhile, so these are read.
    while (shm_mq_send(worker.texts, size_t(batch_.len), batch_.data, true, true) ==
           SHM_MQ_WOULD_BLOCK) {
        collect();
        WaitLatch(MyLatch, WL_LATCH_SET | WL_EXIT_ON_PM_DEATH, 0, PG_WAIT_EXTENSION);
        ResetLatch(MyLatch);
        CHECK_FOR_INTERRUPTS();
    }
    worker.batches++;
    resetStringInfo(&batch_);
    filled_ = kNone;
}

// Receives what has come.
void CuttingWorkers::collect() {
    for (int i = 0; i < count_; i++)
        while (workers_[i].batches > 0 && receive(i, false))
            continue;
}

// False if nothing has come.
bool CuttingWorkers::receive(int number, bool wait) {
    Worker& worker = workers_[number];
    Size bytes;
    void* message;
    shm_mq_result result = shm_mq_receive(worker.documents, &bytes, &message, !wait);
    if (result == SHM_MQ_DETACHED)
        ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                errmsg("lost connection to a worker that cuts texts"),
                errhint("The server's log may say why. Try again, or SET "
                        "max_parallel_workers_per_gather = 0."));
    if (result != SHM_MQ_SUCCESS)
        return false;
    if (worker.batches == 0) {
        receiver_.add_table(number, {static_cast<uint8_t*>(message), bytes});
        return true;
    }
    worker.batches--;
    each_aligned<DocumentHeader>(message, bytes, [&](const DocumentHeader& cut, const char* data) {
        receiver_.add_cut(number, cut.row, cut.document, reinterpret_cast<const uint8_t*>(data));
        return cut.document.word_bytes;
    });
    return true;
}

void CuttingWorkers::finish() {
    if (filled_ != kNone)
        send_batch();
    for (int i = 0; i < count_; i++) {
        // One that has not started finds the queues left when it does, and exits.
        if (!workers_[i].has_started())
            continue;
        while (workers_[i].batches > 0)
            receive(i, true);
        // An empty batch ends the worker, which sends its table.
        shm_mq_send(workers_[i].texts, 0, "", false, true);
        receive(i, true);
    }
    if (segment_ != nullptr)
        dsm_detach(segment_);
    pfree(batch_.data);
    ereport(DEBUG1, errmsg_internal("simhash: workers cut %zu of %zu texts", given_, texts_));
}

} // namespace simhash

// The server calls this in each worker, which exits when it returns.
void simhash_cut_texts(Datum segment_handle) {
    int number;
    memcpy(&number, MyBgworkerEntry->bgw_extra, sizeof(number));
    pqsignal(SIGTERM, die);
    BackgroundWorkerUnblockSignals();
    // The backend may have left already.
    if (dsm_segment* segment = dsm_attach(DatumGetUInt32(segment_handle)))
        simhash::cut_batches(segment, number);
}
