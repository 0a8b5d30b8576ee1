"""Measures an index of faiss on codes in a process of its own, with one thread, and prints JSON:

    faiss_codes.py faiss_flat|faiss_multihash CODES QUERIES BITS RADIUS COUNT SECONDS

CODES and QUERIES are files of bytes. `build` is in seconds, `bytes` is what the process grew by, and
`range` (within RADIUS) and `nearest` (COUNT of them; not measured with MultiHash, which has no order
of buckets) are seconds per query, of as many queries in one call as fit SECONDS.
"""
import json
import re
import sys
import time

import faiss
import numpy


def codes_in(path, bits):
    return numpy.fromfile(path, dtype=numpy.uint8).reshape(-1, bits // 8)


def memory():
    with open("/proc/self/status", encoding="ascii") as status:
        return int(re.search(r"VmRSS:\s*(\d+)", status.read())[1]) * 1024


def new_index(key, bits):
    if key == "faiss_flat":
        return faiss.IndexBinaryFlat(bits)
    index = faiss.IndexBinaryMultiHash(bits, bits // 16, 16)
    index.nflip = 1
    return index


def seconds(work, queries):
    begun = time.perf_counter()
    work(queries)
    return (time.perf_counter() - begun) / len(queries)


def fitting(work, queries, most):
    """(seconds per query, queries)"""
    estimate = seconds(work, queries[:10])
    count = int(min(len(queries), max(10, most / estimate)))
    return seconds(work, queries[:count]), count


def main():
    key, base, asked, bits, radius, count, most = sys.argv[1:]
    bits, radius, count, most = int(bits), int(radius), int(count), float(most)
    faiss.omp_set_num_threads(1)
    queries = codes_in(asked, bits)
    codes = codes_in(base, bits)
    index, before, begun = new_index(key, bits), memory(), time.perf_counter()
    index.add(codes)
    report = {"build": time.perf_counter() - begun, "bytes": memory() - before}
    # faiss finds what is nearer than its radius.
    report["range"], report["queries"] = fitting(lambda some: index.range_search(some, radius + 1), queries, most)
    report["nearest"] = None
    if key == "faiss_flat":
        report["nearest"], _ = fitting(lambda some: index.search(some, count), queries, most)
    print(json.dumps(report))


main()
