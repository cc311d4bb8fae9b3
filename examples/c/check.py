"""Checks a file through the C library: python check.py libpte.so model.pte"""

import ctypes
import pathlib
import sys

pte = ctypes.CDLL(sys.argv[1])
pte.pte_report_error_count.restype = ctypes.c_size_t
pte.pte_report_error_count.argtypes = pte.pte_report_free.argtypes = [ctypes.c_void_p]
data, report = pathlib.Path(sys.argv[2]).read_bytes(), ctypes.c_void_p()
status = pte.pte_check(data, ctypes.c_size_t(len(data)), None, ctypes.byref(report))
errors = pte.pte_report_error_count(report)
pte.pte_report_free(report)
print(f"{sys.argv[2]}: status {status}, {errors} errors")
sys.exit(3 if status else errors > 0)
