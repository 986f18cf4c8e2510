"""Reads each file some times with markitdown: its text to a file, the median milliseconds to stdout."""

import sys
import time
from pathlib import Path

from markitdown import MarkItDown

rounds, out, *paths = sys.argv[1:]
reader = MarkItDown()
for path in paths:
    times = []
    text = ""
    for _ in range(int(rounds)):
        started_at = time.perf_counter()
        try:
            text = reader.convert(path).text_content
        except Exception:  # A type that it does not read.
            pass
        times.append((time.perf_counter() - started_at) * 1000)
    Path(out, f"{Path(path).name}.txt").write_text(text, "utf-8")
    print(sorted(times)[len(times) // 2], flush=True)
