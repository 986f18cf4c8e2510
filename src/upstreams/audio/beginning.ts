import type { AudioFormatName } from "../../catalog/types.ts";
import { audioContainer } from "../../wire/index.ts";
import type { BodyReader } from "../connect.ts";

/** As many bytes as tell what an answer is. */
const TELLING_BYTES = 32;
/** A page, or an error in JSON, whatever its Content-Type says. */
const TEXT = /^\s*(<(!doctype|html|\?xml)|\{\s*"[a-z_]{3,}"\s*:)/i;
const CONTAINER_OF: Readonly<Record<AudioFormatName, string | null>> = {
	mp3: "mp3",
	opus: "ogg",
	aac: "aac",
	flac: "flac",
	wav: "wav",
	pcm: null,
};
/** What samples do not begin with by chance. */
const UNLIKE_SAMPLES: ReadonlySet<string> = new Set(["wav", "flac", "ogg"]);

/** The first bytes of an answer: enough to tell what it is, or all where it is shorter; null where there are none. */
export async function readBeginning(reader: BodyReader): Promise<Uint8Array | null> {
	let beginning = new Uint8Array(0);
	while (beginning.length < TELLING_BYTES) {
		const read = await reader.read();
		if (read.done) break;
		const piece = read.value ?? new Uint8Array(0);
		beginning = beginning.length === 0 ? new Uint8Array(piece) : Buffer.concat([beginning, piece]);
	}
	return beginning.length === 0 ? null : beginning;
}

/**
 * What an answer is by its first bytes, where they say other than its Content-Type: null for audio of another kind,
 * `none` for text. What is not known is left as it was told.
 */
export function formatOfBytes(beginning: Uint8Array, told: AudioFormatName | null): AudioFormatName | null | "none" {
	if (TEXT.test(new TextDecoder().decode(beginning.subarray(0, 64)))) return "none";
	const container = audioContainer(beginning);
	if (told === null || container === null || container === CONTAINER_OF[told]) return told;
	return told !== "pcm" || UNLIKE_SAMPLES.has(container) ? null : told;
}
