import { expect, test } from "bun:test";
import { checkAudioData, checkVideoData } from "./media-header.ts";

const base64 = (text: string) => Buffer.from(text.padEnd(24, "\0"), "latin1").toString("base64");
const outcome = (check: () => void): string => {
	try {
		check();
		return "taken";
	} catch (error) {
		return (error as Error).message;
	}
};

test("audio of every documented container is known by its header", () => {
	const files = {
		wav: base64("RIFF....WAVE"),
		mp3: base64("ID3\x04"),
		aiff: base64("FORM....AIFF"),
		aac: base64("\xff\xf1"),
		ogg: base64("OggS"),
		flac: base64("fLaC"),
		m4a: base64("\0\0\0\x18ftypM4A "),
	};
	for (const [format, data] of Object.entries(files)) {
		expect(outcome(() => checkAudioData(data, format, ["data"]))).toBe("taken");
		expect(outcome(() => checkAudioData(data, format === "wav" ? "mp3" : "wav", ["data"]))).toBe(
			`data: is ${format === "m4a" ? "mp4" : format}, and its format says ${format === "wav" ? "mp3" : "wav"}`,
		);
	}
	for (const raw of ["pcm16", "pcm24"]) expect(outcome(() => checkAudioData(base64("any"), raw, ["data"]))).toBe("taken");
});

test("what is no audio is told so; what is too short to tell goes on", () => {
	expect(outcome(() => checkAudioData(base64("%PDF"), "wav", ["data"]))).toContain("no audio that can be read");
	expect(outcome(() => checkAudioData("data:audio/wav;base64,AAAA", "wav", ["data"]))).toContain("must be base64 data");
	expect(outcome(() => checkAudioData("UklGRg==", "mp3", ["data"]))).toBe("taken");
});

test("video of every documented container is known by its header", () => {
	for (const head of ["\0\0\0\x18ftypisom", "\0\0\0\x08wide", "\x1aE\xdf\xa3", "\0\0\x01\xba", "\0\0\x01\xb3", "G@\0"])
		expect(outcome(() => checkVideoData(base64(head), ["url"]))).toBe("taken");
	expect(outcome(() => checkVideoData(base64("RIFF....AVI "), ["url"]))).toContain("is not a readable video");
});
