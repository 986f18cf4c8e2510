/** Local editing as its tests use it: known pictures, and what is expected of single pixels. */
import { expect } from "bun:test";
import type { EmbeddedImages } from "../../embedded-images.ts";
import type { OutputFormat } from "../../port.ts";
import { distance, NEVER, type Pixels, PNG, painted, pixelsOf, type Rgba } from "../../testing/images.ts";

export const RED: Rgba = [255, 0, 0, 255];
export const GREEN: Rgba = [0, 200, 0, 255];
export const BLUE: Rgba = [0, 0, 255, 255];
export const YELLOW: Rgba = [255, 220, 0, 255];
export const WHITE: Rgba = [255, 255, 255, 255];
export const BLACK: Rgba = [0, 0, 0, 255];

/** Four quarters: red, green, blue, yellow from the left upper corner on. */
export const QUARTERS = await painted(400, 300, (x, y) => (y < 150 ? (x < 200 ? RED : GREEN) : x < 200 ? BLUE : YELLOW));
/** A white square of 100 in the middle of black: masks the middle. */
export const MASK = await painted(400, 300, (x, y) => (x >= 150 && x < 250 && y >= 100 && y < 200 ? WHITE : BLACK));
/** The same as OpenAI's callers send it: what is to change is transparent. */
export const CLEAR_MASK = await painted(400, 300, (x, y) => (x >= 150 && x < 250 && y >= 100 && y < 200 ? [0, 0, 0, 0] : WHITE));
export const LOGO = await painted(300, 300, () => [255, 0, 255, 255]);
export const LOGO_COLOUR: Rgba = [255, 0, 255, 255];
export const SAME = [400, 300] as const;

export type Spot = readonly [x: number, y: number, colour: readonly number[]];

export class Edits {
	readonly #engine: EmbeddedImages;

	constructor(engine: EmbeddedImages) {
		this.#engine = engine;
	}

	/** Of `QUARTERS` where nothing else is said. */
	async edited(
		prompt: string,
		{ images = [QUARTERS], output = PNG }: { images?: Uint8Array[]; output?: OutputFormat } = {},
	): Promise<Pixels> {
		return pixelsOf((await this.#engine.localEdit({ prompt, images, output }, { tenant: "test", signal: NEVER })).bytes);
	}

	async expectPixels(
		prompt: string,
		size: readonly [number, number],
		spots: readonly Spot[],
		images?: Uint8Array[],
		tolerance = 2,
	): Promise<void> {
		const picture = await this.edited(prompt, images === undefined ? {} : { images });
		expect([picture.width, picture.height]).toEqual([...size]);
		for (const [x, y, colour] of spots) {
			const found = picture.at(x, y);
			expect(distance(found, colour), `${prompt}: ${found} at ${x},${y}, not ${colour}`).toBeLessThanOrEqual(tolerance);
		}
	}
}
