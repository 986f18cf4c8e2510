"""The same model in its Python package: argv are model, package of voices, threads, rounds; stdin JSON [[name, voice, language, text], ...].

Writes one JSON a line: [name, seconds of audio, CPU seconds, wall seconds, milliseconds to the first audio, peak of memory in bytes].
"""

import asyncio
import json
import resource
import sys
import tarfile
import tempfile
import time

import numpy as np
import onnxruntime
from kokoro_onnx import Kokoro

model, package, threads, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
lines = json.load(sys.stdin)

styles = {}
with tarfile.open(package) as archive:
    for _, voice, _, _ in lines:
        data = archive.extractfile(f"package/voices/{voice}.bin").read()
        styles[voice] = np.frombuffer(data, dtype=np.float32).reshape(510, 1, 256)

options = onnxruntime.SessionOptions()
options.intra_op_num_threads = threads
options.inter_op_num_threads = 1
session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])

with tempfile.NamedTemporaryFile(suffix=".npz") as file:
    np.savez(file, **styles)
    file.flush()
    kokoro = Kokoro.from_session(session, file.name)


def cpu():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


async def speak(voice, language, text):
    begin, cpu_before, first, samples, rate = time.monotonic(), cpu(), 0.0, 0, 24000
    async for audio, rate in kokoro.create_stream(text, voice=voice, lang=language):
        first = first or time.monotonic() - begin
        samples += len(audio)
    return samples / rate, cpu() - cpu_before, time.monotonic() - begin, first * 1000


for name, voice, language, text in lines:
    asyncio.run(speak(voice, language, text))
    best = min((asyncio.run(speak(voice, language, text)) for _ in range(rounds)), key=lambda figure: figure[1])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps([name, *best, peak]), flush=True)
