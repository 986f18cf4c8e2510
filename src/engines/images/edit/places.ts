import type { PixelSize } from "../image-header.ts";
import type { Length, Position } from "./operation.ts";

/** Returns the upper left corner of an object in an image, `margin` away from the edges for a named place. */
export function cornerOf(at: Position, outer: PixelSize, inner: PixelSize, margin = 0): { x: number; y: number } {
	if (typeof at !== "string") return at;
	const along = (first: string, last: string, outerSide: number, innerSide: number): number => {
		if (at.includes(first)) return margin;
		if (at.includes(last)) return outerSide - innerSide - margin;
		return Math.floor((outerSide - innerSide) / 2);
	};
	return {
		x: along("left", "right", outer.width, inner.width),
		y: along("top", "bottom", outer.height, inner.height),
	};
}

/** Returns whole pixels, at least one. */
export function pixelsOf({ value, unit }: Length, whole: number): number {
	return Math.max(1, Math.round(unit === "px" ? value : (whole * value) / 100));
}
