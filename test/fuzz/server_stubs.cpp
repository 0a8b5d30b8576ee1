// Stand-ins of the server's functions for fuzzers. Each does what the server's does for the
// arguments that our code gives it, and aborts where the server would raise an internal error. String
// buffers, psprintf() and CRC-32C are the server's own, from libpgcommon and libpgport.
#include "server_stubs.hpp"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <utility>
#include <vector>

// Of AddressSanitizer's library. Its header is left out, as clang-tidy reads this file also where no
// sanitizer is installed.
extern "C" void __asan_poison_memory_region(const volatile void* begin, size_t bytes);

namespace simhash {

namespace {

int error_state = 0; // SQLSTATE of the statement's error

// ---- memory: one context, which is emptied after each statement ----

constexpr size_t kAlignment = 8; // of the server's memory; that of malloc() is 16

struct Allocation {
    char* begin; // from malloc(): kAlignment bytes that nobody may touch, then the content
    size_t bytes;

    char* content() const { return begin + kAlignment; }
};
std::vector<Allocation> allocations;

void* allocate(size_t bytes, size_t most) {
    require(bytes <= most);
    char* begin = static_cast<char*>(malloc(kAlignment + bytes));
    require(begin != nullptr);
    __asan_poison_memory_region(begin, kAlignment);
    allocations.push_back({begin, bytes});
    return allocations.back().content();
}

// Takes the one with this content out of the list.
Allocation taken_out(const void* content) {
    auto found = std::find_if(allocations.rbegin(), allocations.rend(),
                              [=](const Allocation& one) { return one.content() == content; });
    require(found != allocations.rend());
    Allocation taken = std::exchange(*found, allocations.back());
    allocations.pop_back();
    return taken;
}

// A bit string of zeros.
VarBit* allocate_bits(int count) {
    size_t bytes = VARBITTOTALLEN(size_t(count));
    auto* bits = static_cast<VarBit*>(memset(allocate(bytes, MaxAllocSize), 0, bytes));
    SET_VARSIZE(bits, bytes);
    VARBITLEN(bits) = count;
    return bits;
}

// The text of a message, which nobody reads: the sanitizer sees what its arguments read.
void format(const char* text, va_list arguments) {
    char message[1024];
#undef vsnprintf
    vsnprintf(message, sizeof message, text, arguments);
}

} // namespace

namespace stubs {

sigjmp_buf error_handler;

int end_statement() {
    for (const Allocation& one : allocations)
        free(one.begin);
    allocations.clear();
    return std::exchange(error_state, 0);
}

} // namespace stubs

Datum call(PGFunction function, std::initializer_list<Datum> arguments) {
    LOCAL_FCINFO(call, FUNC_MAX_ARGS);
    InitFunctionCallInfoData(*call, nullptr, short(arguments.size()), InvalidOid, nullptr, nullptr);
    NullableDatum* next = call->args;
    for (Datum argument : arguments)
        *next++ = {argument, false};
    Datum result = function(call);
    return call->isnull ? Datum(0) : result;
}

char* copied_text(std::span<const uint8_t> bytes) {
    auto* given = reinterpret_cast<const char*>(bytes.data());
    size_t length = strnlen(given, bytes.size());
    char* text = static_cast<char*>(palloc(length + 1));
    memcpy(text, given, length);
    text[length] = '\0';
    return text;
}

StringInfo copied_message(std::span<const uint8_t> bytes) {
    auto* message = static_cast<StringInfo>(palloc0(sizeof(StringInfoData)));
    message->data = static_cast<char*>(palloc(bytes.size()));
    memcpy(message->data, bytes.data(), bytes.size());
    message->len = int(bytes.size());
    return message;
}

bytea* copied_bytea(std::span<const uint8_t> bytes, bool is_short) {
    if (is_short && VARHDRSZ_SHORT + bytes.size() <= VARATT_SHORT_MAX) {
        char* value = static_cast<char*>(palloc(1 + VARHDRSZ_SHORT + bytes.size())) + 1;
        SET_VARSIZE_SHORT(value, VARHDRSZ_SHORT + bytes.size());
        memcpy(value + VARHDRSZ_SHORT, bytes.data(), bytes.size());
        return reinterpret_cast<bytea*>(value);
    }
    auto* value = static_cast<bytea*>(palloc(VARHDRSZ + bytes.size()));
    SET_VARSIZE(value, VARHDRSZ + bytes.size());
    memcpy(VARDATA(value), bytes.data(), bytes.size());
    return value;
}

} // namespace simhash

using namespace simhash;

// NOLINTBEGIN(readability-identifier-naming): the server's names
extern "C" {

// ---- errors ----

bool errstart(int level, const char*) {
    if (level >= ERROR)
        error_state = ERRCODE_INTERNAL_ERROR;
    return level >= ERROR;
}

bool errstart_cold(int level, const char* domain) { return errstart(level, domain); }

void errfinish(const char*, int, const char*) { siglongjmp(stubs::error_handler, 1); }

#if PG_VERSION_NUM >= 160000
bool errsave_start(Node*, const char* domain) { return errstart(ERROR, domain); }

void errsave_finish(Node*, const char* file, int line, const char* function) {
    errfinish(file, line, function);
}
#endif

int errcode(int state) {
    error_state = state;
    return 0;
}

// Assertions are on.
#if PG_VERSION_NUM >= 160000
void ExceptionalCondition(const char*, const char*, int) {
#else
void ExceptionalCondition(const char*, const char*, const char*, int) {
#endif
    abort();
}

#define MESSAGE_FUNCTION(name)                                                                     \
    int name(const char* text, ...) {                                                              \
        va_list arguments;                                                                         \
        va_start(arguments, text);                                                                 \
        format(text, arguments);                                                                   \
        va_end(arguments);                                                                         \
        return 0;                                                                                  \
    }
MESSAGE_FUNCTION(errmsg)
MESSAGE_FUNCTION(errmsg_internal)
MESSAGE_FUNCTION(errdetail)
MESSAGE_FUNCTION(errhint)

// ---- interrupts: there are none ----

volatile sig_atomic_t InterruptPending = false;

void ProcessInterrupts(void) { abort(); }

// ---- memory ----

MemoryContext CurrentMemoryContext = nullptr;

void* palloc(Size bytes) { return allocate(bytes, MaxAllocSize); }

void* palloc0(Size bytes) { return memset(palloc(bytes), 0, bytes); }

void* repalloc(void* memory, Size bytes) {
    Allocation old = taken_out(memory);
    memory = memcpy(palloc(bytes), old.content(), std::min(bytes, old.bytes));
    free(old.begin);
    return memory;
}

void pfree(void* memory) { free(taken_out(memory).begin); }

char* pnstrdup(const char* text, Size length) {
    length = strnlen(text, length);
    char* copy = static_cast<char*>(palloc0(length + 1));
    memcpy(copy, text, length);
    return copy;
}

void* MemoryContextAlloc(MemoryContext, Size bytes) { return palloc(bytes); }

void* MemoryContextAllocHuge(MemoryContext, Size bytes) {
    return allocate(bytes, MaxAllocHugeSize);
}

// ---- values ----

// No input is compressed or in a table of its own.
varlena* pg_detoast_datum(varlena* value) {
    if (!VARATT_IS_SHORT(value))
        return value;
    return copied_bytea(content(value), false);
}

varlena* pg_detoast_datum_packed(varlena* value) { return value; }

Size toast_raw_datum_size(Datum value) {
    return VARSIZE_ANY_EXHDR(DatumGetPointer(value)) + VARHDRSZ;
}

Datum DirectFunctionCall1Coll(PGFunction function, Oid, Datum argument) {
    return call(function, {argument});
}

Datum DirectFunctionCall3Coll(PGFunction function, Oid, Datum first, Datum second, Datum third) {
    return call(function, {first, second, third});
}

// Only 0 and 1 are digits here.
Datum varbit_in(PG_FUNCTION_ARGS) {
    const char* digits = PG_GETARG_CSTRING(0);
    int count = int(strlen(digits));
    VarBit* bits = allocate_bits(count);
    for (int i = 0; i < count; i++)
        VARBITS(bits)[i / 8] |= bits8((digits[i] == '1') << (7 - i % 8));
    PG_RETURN_VARBIT_P(bits);
}

Datum varbit_recv(PG_FUNCTION_ARGS) {
    auto* message = reinterpret_cast<StringInfo>(PG_GETARG_POINTER(0));
    int count = int(pq_getmsgint(message, 4));
    if (count < 0 || count > VARBITMAXLEN)
        ereport(ERROR, (errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
                        errmsg("invalid length in external bit string")));
    int bytes = count / BITS_PER_BYTE + (count % BITS_PER_BYTE != 0);
    const char* given = pq_getmsgbytes(message, bytes);
    VarBit* bits = allocate_bits(count);
    memcpy(VARBITS(bits), given, size_t(bytes));
    if (bytes > 0) // bits after the last one are 0
        VARBITS(bits)[bytes - 1] &= bits8(0xff << (-count & (BITS_PER_BYTE - 1)));
    PG_RETURN_VARBIT_P(bits);
}

Datum varbit_send(PG_FUNCTION_ARGS) {
    VarBit* bits = PG_GETARG_VARBIT_P(0);
    StringInfoData message;
    pq_begintypsend(&message);
    pq_sendint32(&message, uint32(VARBITLEN(bits)));
    pq_sendbytes(&message, reinterpret_cast<char*>(VARBITS(bits)), VARBITBYTES(bits));
    PG_RETURN_BYTEA_P(pq_endtypsend(&message));
}

Datum bit_out(PG_FUNCTION_ARGS) {
    VarBit* bits = PG_GETARG_VARBIT_P(0);
    char* digits = static_cast<char*>(palloc(size_t(VARBITLEN(bits)) + 1));
    for (int i = 0; i < VARBITLEN(bits); i++)
        digits[i] = VARBITS(bits)[i / 8] >> (7 - i % 8) & 1 ? '1' : '0';
    digits[VARBITLEN(bits)] = '\0';
    PG_RETURN_CSTRING(digits);
}

// A numeric is given as its digits.
Datum numeric_out(PG_FUNCTION_ARGS) { PG_RETURN_DATUM(PG_GETARG_DATUM(0)); }

int pg_mbcliplen(const char*, int length, int limit) { return std::min(length, limit); }

int GetDatabaseEncoding(void) { return PG_UTF8; }

unsigned char* pg_do_encoding_conversion(unsigned char* text, int, int, int) { return text; }

int AggCheckCallContext(FunctionCallInfo, MemoryContext* context) {
    *context = CurrentMemoryContext;
    return AGG_CONTEXT_AGGREGATE;
}

// ---- messages ----

const char* pq_getmsgbytes(StringInfo message, int length) {
    if (length < 0 || length > message->len - message->cursor)
        ereport(ERROR,
                (errcode(ERRCODE_PROTOCOL_VIOLATION), errmsg("insufficient data left in message")));
    const char* bytes = message->data + message->cursor;
    message->cursor += length;
    return bytes;
}

unsigned int pq_getmsgint(StringInfo message, int length) {
    auto* bytes = reinterpret_cast<const uint8_t*>(pq_getmsgbytes(message, length));
    unsigned number = 0;
    for (int i = 0; i < length; i++)
        number = number << 8 | bytes[i];
    return number;
}

int64 pq_getmsgint64(StringInfo message) {
    uint64_t high = pq_getmsgint(message, 4);
    return int64(high << 32 | pq_getmsgint(message, 4));
}

void pq_begintypsend(StringInfo message) {
    initStringInfo(message);
    appendStringInfoSpaces(message, VARHDRSZ);
}

bytea* pq_endtypsend(StringInfo message) {
    SET_VARSIZE(message->data, message->len);
    return reinterpret_cast<bytea*>(message->data);
}

#if PG_VERSION_NUM >= 160000
void pq_sendbytes(StringInfo message, const void* bytes, int length) {
#else
void pq_sendbytes(StringInfo message, const char* bytes, int length) {
#endif
    appendBinaryStringInfo(message, bytes, length);
}
}
// NOLINTEND(readability-identifier-naming)
