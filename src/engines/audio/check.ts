import type { EngineCheck } from "../engine-check.ts";
import { AUDIO_FORMATS, type AudioEncoder } from "./port.ts";

/** The encoder for `turnpike doctor`: a tenth of a second of silence in every format, where a program is there. */
export async function checkAudioEncoder(encoder: AudioEncoder): Promise<EngineCheck> {
	const name = "audio encoder";
	const state = await encoder.state();
	// It is fetched at the first request.
	if (state.state === "offline") return { name, ok: true, text: state.text };
	try {
		for (const format of AUDIO_FORMATS)
			await encoder.whole({
				input: { kind: "pcm", sampleRate: 24_000, bytes: silence() },
				format,
				tenant: "doctor",
				signal: AbortSignal.timeout(60_000),
			});
		return { name, ok: true, text: `${state.text}; writes ${AUDIO_FORMATS.join(", ")}` };
	} catch (fault) {
		const cause = fault instanceof Error && fault.cause instanceof Error ? `: ${fault.cause.message}` : "";
		return { name, ok: false, text: `${fault instanceof Error ? fault.message : fault}${cause}` };
	}
}

async function* silence(): AsyncGenerator<Uint8Array> {
	yield new Uint8Array(4_800);
}
