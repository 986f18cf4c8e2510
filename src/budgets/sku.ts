/**
 * The parts of a sku's name: `<model>-llm-output-mtoken`, `<model>-image-unit`, `<model>-input-image-unit` (pictures
 * that were sent), `<model>-tts-mcharacter`, `<model>-asr-second` (stored in milliseconds),
 * `crypto-rpc-<network>-credit`.
 */
export interface Sku {
	/** The model, or another thing that was used. */
	readonly subject: string;
	readonly modelType: "LLM" | "IMAGE" | "TTS" | "ASR" | "VIDEO" | null;
	/** The unit that is stored. */
	readonly unitType: string;
	/** The part of the subject's use, where there are several. */
	readonly part: string | null;
	/** How many of those units one unit of the statement and its price covers. */
	readonly unitsPerPrice: number;
}

const PER_MILLION = 1_000_000;
const LLM = /^(.+)-llm-([a-z-]+)-mtoken$/;
const IMAGE = /^(.+?)(?:-(input))?-image-unit$/;
const SPEECH = /^(.+)-tts-mcharacter$/;
const TRANSCRIPTION = /^(.+)-asr-second$/;
const CREDIT = /^(.+)-credit$/;
const OTHER = /^(.+)-(m?)([a-z]+)$/;

/** Parses a sku. An unknown form becomes its own subject. */
export function skuOf(sku: string): Sku {
	const llm = LLM.exec(sku);
	if (llm !== null)
		return { subject: llm[1] ?? "", modelType: "LLM", unitType: "tokens", part: llm[2] ?? null, unitsPerPrice: PER_MILLION };
	const image = IMAGE.exec(sku);
	if (image !== null)
		return { subject: image[1] ?? "", modelType: "IMAGE", unitType: "images", part: image[2] ?? null, unitsPerPrice: 1 };
	const speech = SPEECH.exec(sku);
	if (speech !== null)
		return { subject: speech[1] ?? "", modelType: "TTS", unitType: "characters", part: null, unitsPerPrice: PER_MILLION };
	const transcription = TRANSCRIPTION.exec(sku);
	if (transcription !== null)
		return { subject: transcription[1] ?? "", modelType: "ASR", unitType: "milliseconds", part: null, unitsPerPrice: 1_000 };
	const credit = CREDIT.exec(sku);
	if (credit !== null) return { subject: credit[1] ?? "", modelType: null, unitType: "credits", part: null, unitsPerPrice: 1 };
	const otherSku = OTHER.exec(sku);
	const perMillion = otherSku?.[2] === "m" && (otherSku[3] === "token" || otherSku[3] === "character");
	if (otherSku === null || !perMillion) return { subject: sku, modelType: null, unitType: "units", part: null, unitsPerPrice: 1 };
	return { subject: otherSku[1] ?? "", modelType: null, unitType: `${otherSku[3]}s`, part: null, unitsPerPrice: PER_MILLION };
}
