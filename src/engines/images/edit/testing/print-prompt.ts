import { TRANSPARENT } from "../colours.ts";
import type { Length, Operation, Position } from "../operation.ts";

/** Returns a prompt that parses to these operations again, each written in full. */
export function printPrompt(operations: readonly Operation[]): string {
	return operations.map(printOperation).join(", ");
}

function printOperation(operation: Operation): string {
	const words = printWords(operation);
	return "mask" in operation && operation.op !== "fill" && operation.mask !== null
		? `${words} inside mask ${operation.mask}`
		: words;
}

function printWords(operation: Operation): string {
	switch (operation.op) {
		case "blur":
		case "pixelate":
			return `${operation.op} by ${operation.px} px`;
		case "sharpen":
			return `sharpen by ${operation.amount}`;
		case "grey":
		case "sepia":
		case "invert":
		case "trim":
			return operation.op;
		case "brightness":
		case "contrast":
		case "saturation":
		case "warmth":
			return `${operation.op} ${operation.percent < 0 ? "" : "+"}${operation.percent}%`;
		case "hue":
			return `hue by ${operation.degrees} degrees`;
		case "tint":
			return `tint with ${operation.colour} by ${operation.percent}%`;
		case "vignette":
		case "opacity":
			return `${operation.op} ${operation.percent}%`;
		case "resize":
			return `resize to ${operation.width}x${operation.height} ${operation.how}`;
		case "resize-side":
			return `resize to ${operation.px} px ${operation.side === "width" ? "wide" : "high"}`;
		case "scale":
			return `scale to ${operation.percent}%`;
		case "crop":
			return `crop to ${operation.width}x${operation.height} ${printPlace(operation.at)}`;
		case "crop-share":
			return `crop to ${operation.percent}% at ${operation.at}`;
		case "crop-ratio":
			return `crop to ${operation.width}:${operation.height} at ${operation.at}`;
		case "crop-circle":
			return `crop to a circle at ${operation.at}`;
		case "crop-ellipse":
			return "crop to an ellipse";
		case "crop-edges":
			return `crop ${operation.px} px from each side`;
		case "cut":
			return `crop ${printLength(operation.by)} from ${operation.side}`;
		case "pad":
			return `pad to ${operation.width}x${operation.height} with ${operation.colour}`;
		case "rotate":
			return `rotate ${operation.degrees} degrees on ${operation.colour}`;
		case "flip":
			return `flip ${operation.axis}`;
		case "round":
			return `round corners by ${printLength(operation.radius)}`;
		case "border":
			return `border ${operation.px} px ${operation.colour}`;
		case "text": {
			const { px } = operation;
			const size = px === null ? "" : typeof px === "string" ? ` ${px} letters` : ` size ${px} px`;
			const how = `${operation.bold ? " bold" : ""} opacity ${operation.opacity}%`;
			const text = operation.text.replaceAll(/["\\]/g, "\\$&");
			return `write "${text}" ${printPlace(operation.at)} in ${operation.colour}${size}${how}`;
		}
		case "layer": {
			const width = operation.width === null ? "" : ` scaled to ${printLength(operation.width)}`;
			return `place layer ${operation.layer} ${printPlace(operation.at)}${width} opacity ${operation.opacity}%`;
		}
		case "fill":
			return `fill mask ${operation.mask}${operation.colour === null ? "" : ` with ${operation.colour}`}`;
		case "background":
			return operation.colour === TRANSPARENT ? "transparent background" : `replace background with ${operation.colour}`;
		case "flatten":
			return `flatten on ${operation.colour}`;
	}
}

const printLength = ({ value, unit }: Length): string => (unit === "px" ? `${value} px` : `${value}%`);
const printPlace = (at: Position): string => (typeof at === "string" ? `at ${at}` : `at ${at.x},${at.y}`);
