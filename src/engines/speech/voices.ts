import type { SpeechLanguage, SpeechVoice } from "./port.ts";

/** The first letter of a voice's name is its language, the second its gender. */
const LANGUAGES: Readonly<Record<string, SpeechLanguage>> = {
	a: "en-us",
	b: "en-gb",
	e: "es",
	f: "fr",
	h: "hi",
	i: "it",
	j: "ja",
	p: "pt-br",
	z: "zh",
};

const NAMES = [
	"af_alloy af_aoede af_bella af_heart af_jadzia af_jessica af_kore af_nicole af_nova af_river af_sarah af_sky",
	"am_adam am_echo am_eric am_fenrir am_liam am_michael am_onyx am_puck am_santa",
	"bf_alice bf_emma bf_lily bm_daniel bm_fable bm_george bm_lewis",
	"ef_dora em_alex em_santa ff_siwis hf_alpha hf_beta hm_omega hm_psi if_sara im_nicola",
	"jf_alpha jf_gongitsune jf_nezumi jf_tebukuro jm_kumo pf_dora pm_alex pm_santa",
	"zf_xiaobei zf_xiaoni zf_xiaoxiao zf_xiaoyi zm_yunjian zm_yunxi zm_yunxia zm_yunyang",
];

/**
 * Voices without a vector of their own in the package: the mean of the named ones. They sound unlike other servers' voices of
 * this name; `docs/speech.md` says so.
 */
const MIXED: Readonly<Record<string, readonly string[]>> = { af_jadzia: ["af_heart", "af_nova"] };

export const KOKORO_VOICES: readonly SpeechVoice[] = NAMES.flatMap((names) => names.split(" ")).flatMap((id) => {
	const language = LANGUAGES[id.charAt(0)];
	return language === undefined ? [] : [{ id, language }];
});

const BY_ID: ReadonlyMap<string, SpeechVoice> = new Map(KOKORO_VOICES.map((voice) => [voice.id, voice]));

export const voiceOf = (id: string): SpeechVoice | undefined => BY_ID.get(id);

/** Returns the package's vectors that make up a voice. */
export const vectorsOf = (id: string): readonly string[] => MIXED[id] ?? [id];
