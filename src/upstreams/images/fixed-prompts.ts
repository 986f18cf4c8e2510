import type { ImageForward } from "./port.ts";

/** What servers ask of their model where nothing but a size is wanted. */
const FIXED_PROMPTS = {
	upscale: "Upscale this picture. Change nothing in it.",
	"background-remove": "Remove the background of this picture and leave it transparent. Change nothing else.",
} as const;

/** What a model that is told in words is asked for: the caller's prompt, or ours where the route has none. */
export function promptOf({ kind, prompt }: Pick<ImageForward, "kind" | "prompt">): string {
	return kind === "upscale" || kind === "background-remove" ? FIXED_PROMPTS[kind] : prompt;
}
