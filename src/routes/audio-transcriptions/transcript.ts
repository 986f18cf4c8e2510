/** Writes a transcription in the requested format. */
import type { TimedText, TranscriptionAnswer } from "../../upstreams/audio/port.ts";
import { inTurns, nextTurn, stringifyInSteps } from "../../wire/index.ts";
import type { TranscriptFormat } from "./schema.ts";

export interface TranscriptSource {
	readonly answer: TranscriptionAnswer;
	readonly format: TranscriptFormat;
	/** Measured length of the audio. */
	readonly seconds: number;
	/** The timings that json has beside the text. */
	readonly timings: "none" | "segment" | "word";
	/** The language as the caller gave it. */
	readonly language: string | undefined;
	/** True: json is sent as events. */
	readonly stream: boolean;
}

export interface Transcript {
	readonly type: string;
	readonly body: string;
}

/**
 * Returns the transcript. It is written in turns of the event loop, since there may be tens of thousands of segments
 * and words.
 */
export async function transcriptOf(parts: TranscriptSource): Promise<Transcript> {
	const { answer, format } = parts;
	switch (format) {
		case "text":
			return { type: "text/plain; charset=utf-8", body: answer.text };
		case "srt":
			return { type: "text/plain; charset=utf-8", body: await cuesOf(parts, srtCue) };
		case "vtt":
			return { type: "text/plain; charset=utf-8", body: `WEBVTT\n\n${await cuesOf(parts, vttCue)}` };
		case "verbose_json":
			return { type: "application/json", body: await inTurns(stringifyInSteps(verbose(parts))) };
		case "json":
			return parts.stream
				? { type: "text/event-stream", body: eventsOf(answer.text) }
				: { type: "application/json", body: await inTurns(stringifyInSteps(plainJson(parts))) };
	}
}

/** Returns OpenAI's events (its API reference, "Transcription stream events"): upstreams return the text at once. */
function eventsOf(text: string): string {
	const events = [
		{ type: "transcript.text.delta", delta: text },
		{ type: "transcript.text.done", text },
	];
	return events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
}

function plainJson({ answer, timings, seconds }: TranscriptSource): Record<string, unknown> {
	if (timings === "none") return { text: answer.text };
	const timestamps =
		timings === "word"
			? { word: answer.words.map(({ text, start, end }) => ({ word: text, start, end })) }
			: { segment: answer.segments.map(({ text, start, end }) => ({ text, start, end })) };
	return { text: answer.text, duration: seconds, timestamps };
}

function verbose(parts: TranscriptSource): Record<string, unknown> {
	const { answer, language, seconds, timings } = parts;
	const words = answer.words.map(({ text, start, end }) => ({ word: text, start, end }));
	return {
		task: "transcribe",
		language: answer.language ?? language ?? "unknown",
		duration: seconds,
		text: answer.text,
		segments: segmentsOf(parts).map(({ text, start, end }, id) => ({ id, start, end, text })),
		...(timings === "word" ? { words } : {}),
	};
}

/** Returns the upstream's segments; if it gave none, one segment with all of the text and time. */
function segmentsOf({ answer, seconds }: TranscriptSource): readonly TimedText[] {
	if (answer.segments.length > 0) return answer.segments;
	return answer.text.trim() === "" ? [] : [{ text: answer.text, start: 0, end: seconds }];
}

/** Number of cues written in one turn of the event loop. */
const STEP_CUES = 2_000;

async function cuesOf(parts: TranscriptSource, write: (segment: TimedText, index: number) => string): Promise<string> {
	const cues: string[] = [];
	for (const [index, segment] of segmentsOf(parts).entries()) {
		if (index > 0 && index % STEP_CUES === 0) await nextTurn();
		cues.push(write(segment, index));
	}
	return cues.join("\n");
}

function srtCue({ text, start, end }: TimedText, index: number): string {
	return `${index + 1}\n${clock(start, ",")} --> ${clock(end, ",")}\n${cueText(text)}\n`;
}

/** Returns a WebVTT cue. Text that looks like markup is escaped. */
function vttCue({ text, start, end }: TimedText): string {
	return `${clock(start, ".")} --> ${clock(end, ".")}\n${cueText(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;")}\n`;
}

/** Returns the text of a cue without blank lines and arrows, which would end it. */
function cueText(text: string): string {
	return text
		.trim()
		.replace(/\s*[\r\n]\s*/g, " ")
		.replaceAll("-->", "->");
}

/** Returns seconds as hh:mm:ss and milliseconds. */
function clock(seconds: number, point: string): string {
	const ms = Math.max(0, Math.round(seconds * 1_000));
	const two = (value: number) => String(Math.floor(value)).padStart(2, "0");
	return `${two(ms / 3_600_000)}:${two((ms / 60_000) % 60)}:${two((ms / 1_000) % 60)}${point}${String(ms % 1_000).padStart(3, "0")}`;
}
