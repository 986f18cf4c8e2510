/**
 * Encodes audio in the callers' formats: one process per request, which ends with it; headers are correct if the whole length
 * is known. It never opens a file or an address that its input names.
 */
export { checkAudioEncoder } from "./check.ts";
export { FfmpegEncoder } from "./ffmpeg-encoder.ts";
export type { FfmpegProgramOptions } from "./ffmpeg-program.ts";
export {
	AUDIO_CONTENT_TYPES,
	AUDIO_FORMATS,
	type AudioEncoder,
	type AudioEncoderState,
	type AudioFormat,
	type AudioInput,
	type EncodeRequest,
} from "./port.ts";
