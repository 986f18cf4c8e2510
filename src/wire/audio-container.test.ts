import { expect, test } from "bun:test";
import { audioContainer } from "./audio-container.ts";

const latin1 = (text: string) => Uint8Array.from(text, (character) => character.charCodeAt(0));

test.each([
	["wav", latin1("RIFF\x00\x00\x00\x00WAVEfmt ")],
	["flac", latin1("fLaC\x00\x00\x00\x22")],
	["ogg", latin1("OggS\x00\x02")],
	["mp4", latin1("\x00\x00\x00\x20ftypM4A ")],
	["mp3", latin1("ID3\x04\x00")],
	["mp3", new Uint8Array([0xff, 0xfb, 0x90, 0x00])],
	["mp3", new Uint8Array([0xff, 0xf3, 0x90, 0x00])],
	["aac", new Uint8Array([0xff, 0xf1, 0x50, 0x80])],
	["webm", new Uint8Array([0x1a, 0x45, 0xdf, 0xa3])],
] as const)("%s is known by its first bytes", (container, bytes) => {
	expect(audioContainer(bytes)).toBe(container);
});

test("nothing, text, a picture and other RIFF files are none of them", () => {
	for (const text of ["", "R", "hello there", "\x89PNG\r\n\x1a\n", "RIFF\x00\x00\x00\x00WEBPVP8 ", "\xff\xd8\xff\xe0", "{}"])
		expect(audioContainer(latin1(text))).toBeNull();
});
