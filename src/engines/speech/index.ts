/**
 * The embedded speech model. Promises: the same audio for the same request; sentences as they are ready; a crash
 * fails the piece that was being computed and no other request; eSpeak NG, which is under the GPL, runs in the
 * child process only. Never speaks for somebody who has left, beyond the sentence in hand.
 */
export { checkSpeechEngine } from "./check.ts";
export { EMBEDDED_SPEECH_ASSETS, EMBEDDED_SPEECH_MODEL, EmbeddedSpeech, type EmbeddedSpeechOptions } from "./embedded-speech.ts";
export { nativeSpeechEngine } from "./native-package.ts";
export {
	MAX_ENGINE_SPEED,
	MIN_ENGINE_SPEED,
	type Pace,
	type PcmPiece,
	paceOf,
	SPEECH_SAMPLE_RATE,
	type SpeechEngine,
	type SpeechEngineState,
	SpeechInputError,
	type SpeechLanguage,
	type SpeechRequest,
	type SpeechVoice,
} from "./port.ts";
