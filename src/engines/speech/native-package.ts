import { type NativeEngine, onnxEngine } from "../native-packages.ts";

/** Whether what the speech engine is made of is installed here. */
export function nativeSpeechEngine(): NativeEngine {
	return onnxEngine("speech engine", ["@echogarden/espeak-ng-emscripten"]);
}
