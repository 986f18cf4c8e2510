export type AudioContainer = "mp3" | "wav" | "flac" | "mp4" | "aac" | "ogg" | "webm";

/** The media type of each container, as servers expect it. */
export const CONTAINER_TYPES: Readonly<Record<AudioContainer, string>> = {
	mp3: "audio/mpeg",
	wav: "audio/wav",
	flac: "audio/flac",
	mp4: "audio/mp4",
	aac: "audio/aac",
	ogg: "audio/ogg",
	webm: "audio/webm",
};

/** Returns the container of an audio file by its first bytes, whatever its name is; null for none of these. */
export function audioContainer(bytes: Uint8Array): AudioContainer | null {
	const text = (from: number, to: number) => String.fromCharCode(...bytes.subarray(from, to));
	if ((text(0, 4) === "RIFF" || text(0, 4) === "RF64") && text(8, 12) === "WAVE") return "wav";
	if (text(0, 4) === "fLaC") return "flac";
	if (text(0, 4) === "OggS") return "ogg";
	if (text(4, 8) === "ftyp") return "mp4";
	if (text(0, 3) === "ID3") return "mp3";
	const [first = 0, second = 0, third = 0, fourth = 0] = bytes;
	if (first === 0x1a && second === 0x45 && third === 0xdf && fourth === 0xa3) return "webm";
	if (first !== 0xff || (second & 0xe0) !== 0xe0) return null;
	// The two bits of the layer: 00 is ADTS, 01 is layer III.
	if ((second & 0xf6) === 0xf0) return "aac";
	return (second & 0x06) === 0x02 ? "mp3" : null;
}
