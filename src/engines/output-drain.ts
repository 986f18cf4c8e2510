import type { Log } from "../telemetry/log.ts";

const MAX_LINE_CHARS = 1_000;
const MAX_LINES_PER_WINDOW = 50;
const WINDOW_MS = 10_000;

/**
 * Reads a child's output to its end and logs it by lines; long lines are truncated, floods are counted. An unread pipe would
 * grow in this process without limit.
 */
export async function drainToLog(output: ReadableStream<Uint8Array>, log: Log, fields: object): Promise<void> {
	const decoder = new TextDecoder();
	let windowStart = performance.now();
	let lines = 0;
	let dropped = 0;
	let rest = "";
	const say = (line: string) => {
		if (performance.now() - windowStart > WINDOW_MS) {
			if (dropped > 0) log.warn({ ...fields, dropped }, "engine output was too much");
			windowStart = performance.now();
			lines = 0;
			dropped = 0;
		}
		lines += 1;
		if (lines > MAX_LINES_PER_WINDOW) dropped += 1;
		else if (line.trim() !== "") log.info({ ...fields, line: line.slice(0, MAX_LINE_CHARS) }, "engine output");
	};
	for await (const chunk of output) {
		const parts = (rest + decoder.decode(chunk, { stream: true })).split("\n");
		rest = (parts.pop() ?? "").slice(0, MAX_LINE_CHARS);
		for (const part of parts) say(part);
	}
	if (rest !== "") say(rest);
}
