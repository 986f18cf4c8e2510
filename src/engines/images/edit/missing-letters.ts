import sharp from "sharp";

/** Visible characters; marks join letters, and spaces have no shape. */
const SEEN = /[^\p{M}\p{Z}\p{Cc}\p{Cf}\p{Cs}]/u;
/** Code points that no font has: their boxes hold four and six digits. */
const NO_LETTERS = ["\u0378", "\u{10ffff}"] as const;
/** Rows of a box above and below its digits, the same for all. */
const RIM_ROWS = 2;

/** Returns the letters of a text that no installed font has; Pango draws a box with the letter's number instead. */
export async function missingLetters(
	text: string,
	font: { readonly font: string; readonly fontfile: string },
): Promise<string[]> {
	const letters = [...new Set(text)].filter((letter) => letter > "~" && SEEN.test(letter));
	if (letters.length === 0) return [];
	const boxes = await Promise.all(NO_LETTERS.map((letter) => rimOf(letter, font)));
	const missing: string[] = [];
	for (const letter of letters) if (boxes.includes(await rimOf(letter, font))) missing.push(letter);
	return missing;
}

/** Returns the size and outermost rows of a drawn letter. */
async function rimOf(letter: string, { font, fontfile }: { readonly font: string; readonly fontfile: string }): Promise<string> {
	const image = sharp({ text: { text: letter, font: `${font} 40`, fontfile, dpi: 72, rgba: true } });
	const { data, info } = await image.raw().toBuffer({ resolveWithObject: true });
	const rim = info.width * info.channels * RIM_ROWS;
	const rows = [data.subarray(0, rim), data.subarray(-rim)].map((part) => part.toString("base64"));
	return `${info.width}x${info.height} ${rows.join(" ")}`;
}
