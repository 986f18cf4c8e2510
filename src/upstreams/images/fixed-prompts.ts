import type { ImageForward } from "./port.ts";

/** The prompts of tasks for which the caller gives none. */
const FIXED_PROMPTS = {
	upscale: "Upscale this picture. Change nothing in it.",
	"background-remove": "Remove the background of this picture and leave it transparent. Change nothing else.",
} as const;

/** Returns the prompt: the caller's, or a fixed one for tasks without a prompt. */
export function promptOf({ kind, prompt }: Pick<ImageForward, "kind" | "prompt">): string {
	return kind === "upscale" || kind === "background-remove" ? FIXED_PROMPTS[kind] : prompt;
}
