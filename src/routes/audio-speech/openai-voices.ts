/** The substitutes of OpenAI's voices, for models with voices of that kind. */
const SUBSTITUTES: ReadonlyMap<string, string> = new Map([
	["alloy", "af_alloy"],
	["ash", "am_eric"],
	["ballad", "bm_lewis"],
	["cedar", "am_fenrir"],
	["coral", "af_bella"],
	["echo", "am_echo"],
	["fable", "bm_fable"],
	["marin", "af_heart"],
	["nova", "af_nova"],
	["onyx", "am_onyx"],
	["sage", "af_sarah"],
	["shimmer", "af_sky"],
	["verse", "am_michael"],
]);
const NAMES = [...SUBSTITUTES.keys()];

/**
 * Returns a model's voice for one of OpenAI's names; undefined for any other name. A model without the usual substitute
 * always uses the same one of its voices.
 */
export function openAiVoice(name: string, voices: readonly string[]): string | undefined {
	const standIn = SUBSTITUTES.get(name);
	if (standIn === undefined) return undefined;
	return voices.includes(standIn) ? standIn : voices[NAMES.indexOf(name) % voices.length];
}
