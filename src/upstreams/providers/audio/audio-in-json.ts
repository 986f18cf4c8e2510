import { ANSWER_BOUNDS, cutJson, decodeBase64Over, inTurns, nextTurn } from "../../../wire/index.ts";
import { readWhole } from "../../chat/whole-answer.ts";
import { brokenAnswer } from "../../failures.ts";

/** Fifteen minutes of samples in base64. No text of 4096 characters makes more. */
const MAX_JSON_BYTES = 64 << 20;
/** Strings of smaller answers are not replaced. */
const LONG_STRING = 32_768;
/** The text that replaces the audio: 12 bytes in base64 without padding, which are no audio. */
const STAND_IN = "dHVybnBpa2Ugc25k";
const STAND_IN_BYTES = Buffer.from(STAND_IN, "base64");

/**
 * Removes the audio from a JSON answer and restores it later. Packages parse and decode an answer in one turn of the
 * event loop, which may take a second. So they get a short string instead of the audio.
 */
export class AudioInJson {
	#base64: Uint8Array | null = null;

	/** Returns the answer for the package. Throws UpstreamFailure if it is too large or has too many values. */
	async withStandIn(response: Response): Promise<Response> {
		const bytes = await readWhole(response, MAX_JSON_BYTES);
		const headers = new Headers(response.headers);
		for (const name of ["content-length", "content-encoding", "transfer-encoding"]) headers.delete(name);
		const body = bytes.length <= LONG_STRING ? bytes : await this.#replaceSound(bytes);
		return new Response(body as Uint8Array<ArrayBuffer>, { status: response.status, headers });
	}

	async #replaceSound(bytes: Uint8Array): Promise<Uint8Array> {
		const fault = () => brokenAnswer("an answer that is made of more than a sound");
		const limits = { longerThan: LONG_STRING, keep: 0 };
		const { cuts } = await inTurns(cutJson(bytes, { ...ANSWER_BOUNDS, bytes: LONG_STRING }, limits)).catch(() => {
			throw fault();
		});
		const [sound, another] = cuts;
		if (sound === undefined || another !== undefined) throw fault();
		const end = sound.start + sound.bytes;
		const rest = Buffer.concat([bytes.subarray(0, sound.start), Buffer.from(STAND_IN), bytes.subarray(end)]);
		this.#base64 = bytes.subarray(sound.start, end);
		return rest;
	}

	/** Returns the package's result with the audio in it. Throws UpstreamFailure if the audio is no base64. */
	async restore(audio: string | Uint8Array): Promise<Uint8Array> {
		const bytes = typeof audio === "string" ? Buffer.from(audio, "base64") : audio;
		if (this.#base64 === null) return bytes;
		const head = bytes.subarray(0, bytes.length - STAND_IN_BYTES.length);
		if (!STAND_IN_BYTES.equals(bytes.subarray(head.length))) throw brokenAnswer("an answer whose longest text is not audio");
		const sound = await inTurns(decodeBase64Over(this.#base64));
		this.#base64 = null;
		if (sound === null) throw brokenAnswer("audio that is not base64");
		await nextTurn();
		return head.length === 0 ? sound : withLengths(Buffer.concat([head, sound]), sound.length);
	}
}

/** Writes the lengths into the header of 44 bytes that a package wrote (Multimedia Programming Interface 1.0, WAVE). */
function withLengths(wave: Buffer, samples: number): Uint8Array {
	const head = wave.length - samples;
	if (wave.toString("latin1", 0, 4) !== "RIFF") throw brokenAnswer("a head that is none of samples");
	wave.writeUInt32LE(wave.length - 8, 4);
	wave.writeUInt32LE(samples, head - 4);
	return wave;
}
