import { invalidRequest } from "../../schema/index.ts";

/**
 * Refuses a prompt with more code points than the model takes.
 * @throws ApiError INVALID_REQUEST
 */
export function checkPrompt(prompt: string, limit: number, field = "prompt"): void {
	// No text has more code points than units.
	if (prompt.length <= limit) return;
	let characters = 0;
	for (const _ of prompt) characters++;
	if (characters <= limit) return;
	const message = `must have at most ${limit} characters with this model; this one has ${characters}`;
	throw invalidRequest([{ path: [field], code: "too_big", maximum: limit, type: "string", inclusive: true, message }]);
}
