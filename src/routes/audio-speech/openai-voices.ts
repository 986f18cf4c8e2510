/** OpenAI's voices, each with its substitute in models with voices of that kind. */
const STAND_INS: ReadonlyMap<string, string> = new Map([
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
const NAMES = [...STAND_INS.keys()];

/**
 * Returns a model's voice for one of OpenAI's names; undefined for any other name. A model without the usual substitute
 * always uses the same one of its voices.
 */
export function openAiVoice(name: string, voices: readonly string[]): string | undefined {
	const standIn = STAND_INS.get(name);
	if (standIn === undefined) return undefined;
	return voices.includes(standIn) ? standIn : voices[NAMES.indexOf(name) % voices.length];
}
