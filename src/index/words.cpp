// Computes the words of values. See the header.
#include "index/words.hpp"

namespace simhash {

namespace {

// Returns the word in the array, which has one at most for now.
bool word_in_array(Relation index, Datum datum, uint64_t* word) {
    ArrayType* array = DatumGetArrayTypeP(datum);
    int count = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
    if (count == 0)
        return false;
    if (ARR_ELEMTYPE(array) != INT8OID || ARR_HASNULL(array))
        elog(ERROR, "support function %d of index \"%s\" returned no array of words", kValueWords,
             RelationGetRelationName(index));
    if (count > 1)
        ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                        errmsg("index \"%s\" cannot keep several words of a value",
                               RelationGetRelationName(index)),
                        errdetail("The operator class of its first column computes %d.", count),
                        errhint("Use an operator class whose support function %d returns one word.",
                                kValueWords)));
    int64 first;
    memcpy(&first, ARR_DATA_PTR(array), sizeof(first));
    *word = uint64_t(first);
    return true;
}

} // namespace

bool word_of_value(Relation index, Datum value, uint64_t* word) {
    if (!computes_words(index)) {
        *word = uint64_t(DatumGetInt64(value));
        return true;
    }
    // Not FunctionCall1Coll(), for which NULL is an error: here it says that there is no word.
    LOCAL_FCINFO(call, 1);
    InitFunctionCallInfoData(*call, index_getprocinfo(index, 1, kValueWords), 1,
                             index->rd_indcollation[0], nullptr, nullptr);
    call->args[0].value = value;
    call->args[0].isnull = false;
    Datum words = FunctionCallInvoke(call);
    return !call->isnull && word_in_array(index, words, word);
}

} // namespace simhash
