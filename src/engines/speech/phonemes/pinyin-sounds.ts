/** Converts a pinyin syllable to the symbols of the Chinese voices. Source: the IPA of Standard Chinese. */

const INITIALS: Readonly<Record<string, string>> = {
	b: "p",
	p: "pʰ",
	m: "m",
	f: "f",
	d: "t",
	t: "tʰ",
	n: "n",
	l: "l",
	g: "k",
	k: "kʰ",
	h: "x",
	j: "ʨ",
	q: "ʨʰ",
	x: "ɕ",
	zh: "ꭧ",
	ch: "ꭧʰ",
	sh: "ʂ",
	r: "ɻ",
	z: "ʦ",
	c: "ʦʰ",
	s: "s",
};

/** `0` marks the place of the tone. */
const FINALS: Readonly<Record<string, string>> = {
	a: "a0",
	ai: "ai0",
	an: "a0n",
	ang: "a0ŋ",
	ao: "au0",
	e: "ɤ0",
	ei: "ei0",
	en: "ə0n",
	eng: "ə0ŋ",
	er: "ɚ0",
	i: "i0",
	ia: "ja0",
	ian: "jɛ0n",
	iang: "ja0ŋ",
	iao: "jau0",
	ie: "je0",
	in: "i0n",
	ing: "i0ŋ",
	iong: "jʊ0ŋ",
	iu: "jou0",
	ong: "ʊ0ŋ",
	ou: "ou0",
	u: "u0",
	ua: "wa0",
	uai: "wai0",
	uan: "wa0n",
	uang: "wa0ŋ",
	ueng: "wə0ŋ",
	ui: "wei0",
	un: "wə0n",
	uo: "wo0",
	o: "wo0",
	v: "y0",
	ve: "ɥe0",
	van: "ɥɛ0n",
	vn: "y0n",
};

/** Syllables without initial and final: interjections, and syllabic consonants. */
const WHOLE: Readonly<Record<string, string>> = {
	o: "ɔ0",
	io: "jɔ0",
	yo: "jɔ0",
	ê: "ɛ0",
	m: "m0",
	n: "n0",
	ng: "ŋ0",
	hm: "hm0",
	hng: "hŋ0",
};

const TONES = ["", "→", "↗", "↓", "↘", ""];

/** Replaces a leading w or y, which marks a final without an initial. */
function withoutGlide(syllable: string): string {
	if (syllable.startsWith("yu")) return `v${syllable.slice(2)}`;
	if (syllable.startsWith("yi")) return syllable.slice(1);
	if (syllable === "you") return "iu";
	if (syllable.startsWith("y")) return `i${syllable.slice(1)}`;
	if (syllable.startsWith("wu")) return syllable.slice(1);
	if (syllable === "wei") return "ui";
	if (syllable === "wen") return "un";
	return syllable.startsWith("w") ? `u${syllable.slice(1)}` : syllable;
}

/**
 * Returns the sounds of a syllable.
 * @param numbered `hao3`, `lv4`, `de0`; "" for other texts
 */
export function pinyinSounds(numbered: string): string {
	const [, syllable = "", digit = "0"] = /^([a-zêü]+)([0-5])?$/.exec(numbered.toLowerCase()) ?? [];
	const tone = TONES[Number(digit)] ?? "";
	const plain = syllable.replaceAll("ü", "v");
	const whole = WHOLE[plain];
	if (whole !== undefined) return whole.replace("0", tone);
	const [initial = ""] = /^(?:[zcs]h|[bpmfdtnlgkhjqxrzcs])/.exec(plain) ?? [];
	let final = initial === "" ? withoutGlide(plain) : plain.slice(initial.length);
	if (/^[jqx]$/.test(initial)) final = final.replace(/^u/, "v");
	// After these initials, i continues the consonant's voice.
	const sound = final === "i" && /^(?:[zcs]h?|r)$/.test(initial) ? "ɨ0" : FINALS[final];
	return sound === undefined ? "" : (INITIALS[initial] ?? "") + sound.replace("0", tone);
}
