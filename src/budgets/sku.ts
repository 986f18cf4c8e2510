/**
 * What is told by the name of a sku: `<model>-llm-output-mtoken`, `<model>-image-unit`,
 * `<model>-input-image-unit` (pictures that were sent), `<model>-tts-mcharacter`,
 * `<model>-asr-second` (the books count milliseconds), `crypto-rpc-<network>-credit`.
 */
export interface Sku {
	/** The model, or what else was used. */
	readonly subject: string;
	readonly modelType: "LLM" | "IMAGE" | "TTS" | "ASR" | "VIDEO" | null;
	/** What the books count. */
	readonly unitType: string;
	/** Which part of the subject's use, where it has several. */
	readonly part: string | null;
	/** How many of those units the statement's unit and price are for. */
	readonly unitsPerPrice: number;
}

const PER_MILLION = 1_000_000;
const LLM = /^(.+)-llm-([a-z-]+)-mtoken$/;
const IMAGE = /^(.+?)(?:-(input))?-image-unit$/;
const SPEECH = /^(.+)-tts-mcharacter$/;
const TRANSCRIPTION = /^(.+)-asr-second$/;
const CREDIT = /^(.+)-credit$/;
const OTHER = /^(.+)-(m?)([a-z]+)$/;

/** Reads a sku. One of an unknown form stands for itself. */
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
	const heard = TRANSCRIPTION.exec(sku);
	if (heard !== null)
		return { subject: heard[1] ?? "", modelType: "ASR", unitType: "milliseconds", part: null, unitsPerPrice: 1_000 };
	const credit = CREDIT.exec(sku);
	if (credit !== null) return { subject: credit[1] ?? "", modelType: null, unitType: "credits", part: null, unitsPerPrice: 1 };
	const other = OTHER.exec(sku);
	const perMillion = other?.[2] === "m" && (other[3] === "token" || other[3] === "character");
	if (other === null || !perMillion) return { subject: sku, modelType: null, unitType: "units", part: null, unitsPerPrice: 1 };
	return { subject: other[1] ?? "", modelType: null, unitType: `${other[3]}s`, part: null, unitsPerPrice: PER_MILLION };
}
