import { type Colour, colourNamed } from "./colours.ts";
import { ANCHORS, type Anchor, type LayerNumber, type Position, RANGES, type RangeName } from "./operation.ts";
import type { Token, Unit } from "./tokens.ts";

/** The words match no operation; `hint` explains the error if it is known. */
export class Misread extends Error {
	override readonly name = "Misread";
	readonly hint: string | null;

	constructor(hint: string | null = null) {
		super(hint ?? "not understood");
		this.hint = hint;
	}
}

type TokenOf<Kind extends Token["kind"]> = Extract<Token, { readonly kind: Kind }>;

const ORDINALS: Readonly<Record<string, LayerNumber>> = { second: 2, third: 3, two: 2, three: 3 };
const JOINTS = new Set(["and", "then", "also", "after", "that", "finally", "next"]);

/** Reads the words of a prompt; a method that returns null leaves its position unchanged. */
export class TokenReader {
	readonly #tokens: readonly Token[];
	#at = 0;

	constructor(tokens: readonly Token[]) {
		this.#tokens = tokens;
	}

	get position(): number {
		return this.#at;
	}

	set position(at: number) {
		this.#at = at;
	}

	get done(): boolean {
		return this.#at >= this.#tokens.length;
	}

	/** Returns true at the end of an operation: no words are left, or a separator follows. */
	get atJoint(): boolean {
		const token = this.#tokens[this.#at];
		return token === undefined || token.kind === "separator" || (token.kind === "word" && JOINTS.has(token.word));
	}

	skipJoints(): void {
		while (!this.done && this.atJoint) this.#at += 1;
	}

	/** Skips to behind the next separator. */
	skipToSeparator(): void {
		while (!this.done && this.#tokens[this.#at]?.kind !== "separator") this.#at += 1;
	}

	take<Kind extends Token["kind"]>(kind: Kind): TokenOf<Kind> | null {
		const token = this.#tokens[this.#at];
		if (token?.kind !== kind) return null;
		this.#at += 1;
		return token as TokenOf<Kind>;
	}

	/** Reads a degree relative to the default: `a bit` is half, `a lot` twice; null if there is none. */
	degree(): number | null {
		const degreeWord = this.phrase(...DEGREES.keys());
		return degreeWord === null ? null : (DEGREES.get(degreeWord) ?? null);
	}

	/** Reads the first matching phrase of one or more words. */
	phrase(...phrases: readonly string[]): string | null {
		for (const phrase of phrases) {
			const words = phrase.split(" ");
			const fits = words.every((word, index) => {
				const token = this.#tokens[this.#at + index];
				return token?.kind === "word" && token.word === word;
			});
			if (!fits) continue;
			this.#at += words.length;
			return phrase;
		}
		return null;
	}

	/**
	 * Reads one of the phrases.
	 * @throws {Misread} if none follows
	 */
	expect(...phrases: readonly string[]): string {
		const phrase = this.phrase(...phrases);
		if (phrase === null) throw new Misread();
		return phrase;
	}

	/**
	 * Reads a number with one of some units (null: without one), within its range.
	 * @throws {Misread} if it is out of range
	 */
	number(
		range: RangeName,
		...units: readonly Unit[]
	): { readonly value: number; readonly signed: boolean; readonly unit: Unit } | null {
		const token = this.#tokens[this.#at];
		if (token?.kind !== "number" || !units.includes(token.unit)) return null;
		this.#at += 1;
		return { value: inRange(token.value, range), signed: token.signed, unit: token.unit };
	}

	size(): { readonly width: number; readonly height: number } | null {
		const token = this.take("size");
		if (token === null) return null;
		return { width: wholePixels(token.width), height: wholePixels(token.height) };
	}

	/** Reads a colour by its CSS name, of one or two words, or in hexadecimal digits. */
	colour(): Colour | null {
		const hex = this.take("colour");
		if (hex !== null) return hex.colour;
		const words = [0, 1, 2].map((ahead) => {
			const token = this.#tokens[this.#at + ahead];
			return token?.kind === "word" ? token.word : null;
		});
		// A comma ends a name, because another edit follows it.
		const end = words.indexOf(null);
		for (let count = end < 0 ? words.length : end; count > 0; count--) {
			const colour = colourNamed(words.slice(0, count).join(""));
			if (colour === undefined) continue;
			this.#at += count;
			return colour;
		}
		return null;
	}

	/** Reads one of the nine places, with its words in any order and `middle` for a missing one. */
	anchor(): Anchor | null {
		const start = this.#at;
		const across = new Set<string>();
		const down = new Set<string>();
		for (let word = this.phrase(...PLACE_WORDS.keys()); word !== null; word = this.phrase(...PLACE_WORDS.keys())) {
			const named = PLACE_WORDS.get(word) ?? "";
			if (named === "left" || named === "right") across.add(named);
			else if (named !== "center") down.add(named);
		}
		const name = [...down, ...across].join(" ") || "center";
		const anchor = ANCHORS.find((each) => each === name);
		if (this.#at === start || anchor === undefined) {
			this.#at = start;
			return null;
		}
		this.phrase("corner", "edge", "side");
		return anchor;
	}

	/** Reads `at top left`, `at 10,20`, `in the center`. */
	place(): Position | null {
		const start = this.#at;
		if (this.phrase("at", "in", "on", "from", "to", "across", "along", "near") === null) return null;
		const anchor = this.anchor();
		if (anchor !== null) return anchor;
		const x = this.number("place", null, "px");
		if (x !== null && this.take("separator")?.mark === ",") {
			const y = this.number("place", null, "px");
			if (y !== null) return { x: Math.round(x.value), y: Math.round(y.value) };
		}
		this.#at = start;
		return null;
	}

	/** Reads `layer 2`, `second layer`, `third`, `2`. */
	layer(): LayerNumber | null {
		const start = this.#at;
		const named = this.phrase("layer", "mask", "number") !== null;
		const ordinal = this.phrase(...Object.keys(ORDINALS));
		const number = ordinal === null ? this.#layerNumber() : (ORDINALS[ordinal] ?? null);
		if (number === null) {
			this.#at = start;
			return null;
		}
		if (!named) this.phrase("layer", "mask");
		return number;
	}

	#layerNumber(): LayerNumber | null {
		const token = this.#tokens[this.#at];
		if (token?.kind !== "number" || token.unit !== null || token.signed) return null;
		this.#at += 1;
		if (token.value === 2 || token.value === 3) return token.value;
		throw new Misread("the base is image 1, its layers are 2 and 3");
	}
}

/** `a` is a filler: `a little bit` is read as `little bit`. */
const DEGREES: ReadonlyMap<string, number> = new Map([
	["little bit", 0.5],
	["little", 0.5],
	["bit", 0.5],
	["slightly", 0.5],
	["slight", 0.5],
	["subtle", 0.5],
	["somewhat", 0.5],
	["lot", 2],
	["much", 2],
	["strongly", 2],
	["heavily", 2],
	["very", 2],
	["really", 2],
	["way", 2],
	["strong", 2],
	["heavy", 2],
]);

const PLACE_WORDS: ReadonlyMap<string, string> = new Map([
	["top", "top"],
	["upper", "top"],
	["bottom", "bottom"],
	["lower", "bottom"],
	["left", "left"],
	["right", "right"],
	["center", "center"],
	["centre", "center"],
	["centered", "center"],
	["centred", "center"],
	["middle", "center"],
]);

/** @throws Misread */
export function inRange(value: number, range: RangeName): number {
	const { from, to, unit } = RANGES[range];
	if (value >= from && value <= to) return value;
	throw new Misread(`${value} is out of range: ${from} to ${to}${unit === "" ? "" : ` ${unit}`}`.replace(" %", "%"));
}

/** @throws Misread */
export function wholePixels(value: number): number {
	return Math.round(inRange(value, "side"));
}
