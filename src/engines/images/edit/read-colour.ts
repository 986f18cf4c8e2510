import type { Colour } from "./colours.ts";
import type { TokenReader } from "./token-reader.ts";

/** Reads `on white`, `with a white background`. */
export function withColour(reader: TokenReader): Colour | null {
	const start = reader.position;
	if (reader.phrase("on", "onto", "with", "in", "to") !== null) {
		const colour = reader.colour();
		if (colour !== null) {
			reader.phrase("background");
			return colour;
		}
	}
	reader.position = start;
	return null;
}
