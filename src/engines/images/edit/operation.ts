/** The operations of local editing, as parsed from prompts: docs/images.md, Local editing. */
import type { Colour } from "./colours.ts";

export interface Length {
	readonly value: number;
	readonly unit: "px" | "%";
}

export const ANCHORS = [
	"top left",
	"top",
	"top right",
	"left",
	"center",
	"right",
	"bottom left",
	"bottom",
	"bottom right",
] as const;
export type Anchor = (typeof ANCHORS)[number];

/** A named place, or the upper left corner in pixels. */
export type Position = Anchor | { readonly x: number; readonly y: number };

/** The number of an image behind the base, in the callers' count: the base is 1. */
export type LayerNumber = 2 | 3;

export const LETTER_SIZES = ["small", "large"] as const;
export type LetterSize = (typeof LETTER_SIZES)[number];

export const RESIZE_WAYS = ["cropped", "padded", "stretched", "fitted"] as const;
export const SIDES = ["left", "right", "top", "bottom"] as const;

/** Changes an image's pixels, never its size: a mask may restrict it. */
export type Adjustment =
	| { readonly op: "blur"; readonly px: number }
	| { readonly op: "pixelate"; readonly px: number }
	| { readonly op: "sharpen"; readonly amount: number }
	| { readonly op: "grey" | "sepia" | "invert" }
	| { readonly op: "brightness" | "contrast" | "saturation" | "warmth"; readonly percent: number }
	| { readonly op: "hue"; readonly degrees: number }
	| { readonly op: "tint"; readonly colour: Colour; readonly percent: number }
	/** Darkens towards the corners, which lose this share of their light. */
	| { readonly op: "vignette"; readonly percent: number }
	/** Keeps this share of the opacity. */
	| { readonly op: "opacity"; readonly percent: number };

/** An adjustment within a mask; null: everywhere. */
export type MaskedAdjustment = Adjustment & { readonly mask: LayerNumber | null };

export type Reshaping =
	| { readonly op: "resize"; readonly width: number; readonly height: number; readonly how: (typeof RESIZE_WAYS)[number] }
	| { readonly op: "resize-side"; readonly side: "width" | "height"; readonly px: number }
	| { readonly op: "scale"; readonly percent: number }
	| { readonly op: "crop"; readonly width: number; readonly height: number; readonly at: Position }
	| { readonly op: "crop-share"; readonly percent: number; readonly at: Anchor }
	| { readonly op: "crop-ratio"; readonly width: number; readonly height: number; readonly at: Anchor }
	/** The largest circle; its surroundings become transparent. */
	| { readonly op: "crop-circle"; readonly at: Anchor }
	/** The ellipse that touches all four sides; its surroundings become transparent. */
	| { readonly op: "crop-ellipse" }
	/** Removes as many pixels from each side. */
	| { readonly op: "crop-edges"; readonly px: number }
	| { readonly op: "cut"; readonly side: (typeof SIDES)[number]; readonly by: Length }
	| { readonly op: "trim" }
	| { readonly op: "pad"; readonly width: number; readonly height: number; readonly colour: Colour }
	/** Clockwise; unless it is a multiple of 90 the image grows and its corners are `colour`. */
	| { readonly op: "rotate"; readonly degrees: number; readonly colour: Colour }
	| { readonly op: "flip"; readonly axis: "horizontally" | "vertically" };

export type Decoration =
	| { readonly op: "round"; readonly radius: Length }
	| { readonly op: "border"; readonly px: number; readonly colour: Colour }
	| {
			readonly op: "text";
			readonly text: string;
			readonly at: Position;
			/** The letter height of a line in pixels, or relative to the image; null: a twelfth of it. */
			readonly px: number | LetterSize | null;
			readonly colour: Colour;
			readonly bold: boolean;
			readonly opacity: number;
	  }
	| {
			readonly op: "layer";
			readonly layer: LayerNumber;
			readonly at: Position;
			/** A share of the base's width; null: the layer's own size. */
			readonly width: Length | null;
			readonly opacity: number;
	  }
	/** Fills a masked region; null: from its surroundings. */
	| { readonly op: "fill"; readonly mask: LayerNumber; readonly colour: Colour | null }
	/** Replaces a plain background. */
	| { readonly op: "background"; readonly colour: Colour }
	/** Fills transparency. */
	| { readonly op: "flatten"; readonly colour: Colour };

export type Operation = MaskedAdjustment | Reshaping | Decoration;

export const MAX_OPERATIONS = 32;
export const MAX_TEXT_CHARS = 500;

/** The ranges of numbers, as error messages write them. */
export const RANGES = {
	blur: { from: 0.3, to: 200, unit: "px" },
	pixelate: { from: 2, to: 500, unit: "px" },
	sharpen: { from: 0.1, to: 5, unit: "" },
	adjust: { from: -100, to: 400, unit: "%" },
	degrees: { from: -360, to: 360, unit: "degrees" },
	percent: { from: 0, to: 100, unit: "%" },
	scale: { from: 1, to: 1_000, unit: "%" },
	side: { from: 1, to: 16_383, unit: "px" },
	place: { from: -16_383, to: 16_383, unit: "px" },
	border: { from: 1, to: 2_000, unit: "px" },
	letters: { from: 4, to: 2_000, unit: "px" },
	ratio: { from: 0.01, to: 10_000, unit: "" },
} as const;
export type RangeName = keyof typeof RANGES;
