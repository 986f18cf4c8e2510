import { type Finding, fault, notice, ok } from "../../telemetry/finding.ts";
import { ASSET_GROUP } from "./ffmpeg-program.ts";
import { AUDIO_FORMATS, type AudioEncoder } from "./port.ts";

/**
 * Checks the encoder for `turnpike doctor`: encodes a tenth of a second of silence in every format, if a program is present.
 */
export async function checkAudioEncoder(encoder: AudioEncoder): Promise<Finding> {
	const name = "audio encoder";
	const state = await encoder.state();
	// The program is fetched at the first request.
	if (state.state === "offline")
		return notice(name, state.text, `npx --no turnpike models pull ${ASSET_GROUP}, or apt-get install ffmpeg`);
	try {
		for (const format of AUDIO_FORMATS)
			await encoder.whole({
				input: { kind: "pcm", sampleRate: 24_000, bytes: silence() },
				format,
				tenant: "doctor",
				signal: AbortSignal.timeout(60_000),
			});
		return ok(name, `${state.text}; writes ${AUDIO_FORMATS.join(", ")}`);
	} catch (error) {
		const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : "";
		return fault(name, `${error instanceof Error ? error.message : error}${cause}`, "apt-get install ffmpeg");
	}
}

async function* silence(): AsyncGenerator<Uint8Array> {
	yield new Uint8Array(4_800);
}
