import { expect, test } from "bun:test";
import { formatOfBytes } from "./beginning.ts";

const ERROR = '{"error":{"message":"The key is not valid: ask the administrator, or try again later"}}';

test("text in whatever charset is no raw samples", () => {
	for (const text of [
		Buffer.from(ERROR),
		Buffer.from(`Schl\xfcssel ung\xfcltig: ${ERROR}`, "latin1"),
		Buffer.from(ERROR, "utf16le"),
		Buffer.from(`\ufeff${ERROR}`, "utf16le"),
		Buffer.from(`\0${ERROR}`),
		Buffer.from(`\x1b[31m${ERROR}\x1b[0m`),
	])
		expect(formatOfBytes(text, "pcm"), text.toString()).toBe("none");
});

test("samples are, loud or quiet, and so is silence", () => {
	const wave = (peak: number, offset = 0) =>
		Buffer.from(new Int16Array(Array.from({ length: 400 }, (_, at) => offset + peak * Math.sin(at / 7))).buffer);
	for (const samples of [wave(0), wave(1), wave(100), wave(100, 90), wave(3_000), wave(32_000), wave(0, 64), Buffer.alloc(2)])
		expect(formatOfBytes(samples, "pcm")).toBe("pcm");
});

test("audio in a container may begin with words", () => {
	const tag = Buffer.concat([
		Buffer.from("ID3\x04\0\0\0\0\x02\0TIT2\0\0\x01\0\0\0\x03", "latin1"),
		Buffer.from("title ".repeat(60)),
	]);
	expect(formatOfBytes(tag, "mp3")).toBe("mp3");
});
