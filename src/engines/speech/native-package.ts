import { type NativeEngine, onnxEngine } from "../native-packages.ts";

/** Returns whether the speech engine's packages are installed. */
export function nativeSpeechEngine(): NativeEngine {
	return onnxEngine("speech engine", ["@echogarden/espeak-ng-emscripten"]);
}
