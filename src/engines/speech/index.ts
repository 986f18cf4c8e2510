/**
 * The embedded speech model. The same request gives the same audio; sentences are sent as they are ready; a crash fails only
 * the piece in progress; eSpeak NG, which is under the GPL, runs in the child process only. When a caller leaves, speech ends
 * after the current sentence.
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
