import { ApiError } from "../errors/index.ts";
import { pathText } from "../schema/index.ts";
import { audioContainer } from "../wire/index.ts";

/** This many characters of base64 contain every header that is read here. */
const HEADER_CHARS = 64;
/** Shorter data is left to the upstream to judge. */
const WHOLE_HEADER_BYTES = 12;
const NOT_BASE64 = /[^A-Za-z0-9+/=_\-\s]/;

type At = readonly (string | number)[];

/** The containers that each audio format may come in; a format without any is raw samples. */
const AUDIO: Readonly<Record<string, readonly string[]>> = {
	wav: ["wav"],
	mp3: ["mp3"],
	aiff: ["aiff"],
	aac: ["aac", "mp4"],
	ogg: ["ogg"],
	flac: ["flac"],
	m4a: ["mp4", "aac"],
};

/**
 * Checks base64 audio by its header: it must be readable, and of the declared `format`.
 * @throws ApiError INVALID_AUDIO_FORMAT
 */
export function checkAudioData(base64: string, format: string, at: At): void {
	const header = base64.slice(0, HEADER_CHARS);
	if (NOT_BASE64.test(header)) throw invalidAudio(at, "must be base64 data: no URL is taken here");
	const expected = AUDIO[format];
	if (expected === undefined) return;
	const bytes = Buffer.from(header, "base64");
	if (bytes.length < WHOLE_HEADER_BYTES) return;
	const container = bytes.toString("latin1", 0, 4) === "FORM" ? "aiff" : audioContainer(bytes);
	if (container === null) throw invalidAudio(at, "is no audio that can be read; send one of the documented formats");
	if (!expected.includes(container)) throw invalidAudio(at, `is ${container}, and its format says ${format}`);
}

function invalidAudio(at: At, problem: string): ApiError {
	const param = pathText(at);
	return new ApiError("INVALID_AUDIO_FORMAT", { param, message: `${param}: ${problem}` });
}

/** Types of the first box in MP4 and QuickTime files, including old ones. */
const BOXES: ReadonlySet<string> = new Set(["ftyp", "moov", "mdat", "wide", "free", "skip", "pnot"]);

/**
 * Checks base64 video by its header: mp4, mov, mpeg or webm.
 * @throws ApiError INVALID_VIDEO_FORMAT
 */
export function checkVideoData(base64: string, at: At): void {
	const bytes = Buffer.from(base64.slice(0, HEADER_CHARS), "base64");
	if (bytes.length < WHOLE_HEADER_BYTES) return;
	const first = bytes.readUInt32BE(0);
	const isMpeg = first >>> 4 === 0x000001b || bytes[0] === 0x47;
	if (first === 0x1a45dfa3 || isMpeg || BOXES.has(bytes.toString("latin1", 4, 8))) return;
	const param = pathText(at);
	throw new ApiError("INVALID_VIDEO_FORMAT", {
		param,
		message: `${param}: is not a readable video; send mp4, mpeg, mov or webm`,
	});
}
