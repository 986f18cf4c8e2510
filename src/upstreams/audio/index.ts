/**
 * Speech and transcription through servers with OpenAI's audio protocol and through providers. They share the pool,
 * health and limits of chat. Until the first byte another upstream can take over. A caller that leaves stops the
 * upstream at once.
 */
import type { AttemptDeps } from "../attempts.ts";
import type { AudioUpstreams, UpstreamVoices } from "./port.ts";
import { speak } from "./speech.ts";
import { deleteUpstreamVoice } from "./stored-voice.ts";
import { transcribe } from "./transcription.ts";

export type * from "./port.ts";

/** Time limits in milliseconds (`timeouts` of the config). */
export interface AudioTimeouts {
	readonly speechMs: number;
	readonly transcriptionMs: number;
}

/** Creates the audio upstreams. `timeouts` is read for each call, because a reload changes it. */
export function createAudioUpstreams(deps: AttemptDeps, timeouts: () => AudioTimeouts, voices: UpstreamVoices): AudioUpstreams {
	return {
		speak: (call) => speak(call, { ...deps, voices }, timeouts().speechMs),
		transcribe: (call) => transcribe(call, deps, timeouts().transcriptionMs),
		deleteVoice: (upstream, name) => deleteUpstreamVoice(upstream, name, deps),
	};
}
