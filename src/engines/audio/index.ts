/**
 * Audio in the formats that callers ask for. Promises: one process a request, which ends with it; headers that
 * tell the truth where the whole is known. Never reads a file or an address that its input names.
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
