/** Fields that several image routes have. */
import Type from "typebox";
import { MAX_PROMPT, OUTPUT_FORMATS, QUALITIES, RATIOS } from "./limits.ts";

export const promptField = (maxLength = MAX_PROMPT) =>
	Type.String({ minLength: 1, maxLength, description: "What to change. Each model has limits of its own" });

export const imageText = (description: string) => Type.Optional(Type.String({ minLength: 1, description }));

/** Fields of all edits. */
export const editChoices = {
	aspect_ratio: Type.Optional(
		Type.Enum([...RATIOS], {
			default: "auto",
			description: "auto: the ratio of the model that is nearest to the first picture's",
		}),
	),
	resolution: Type.Optional(Type.String({ minLength: 1, maxLength: 10, description: "1K, 2K or 4K, if the model has it" })),
	quality: Type.Optional(Type.Enum([...QUALITIES], { description: "Ignored by models without it. Absent: the model's default" })),
	output_format: Type.Optional(
		Type.Enum([...OUTPUT_FORMATS, "jpg"], { description: "Absent: png for 1K, jpeg for 2K and 4K. jpg means jpeg" }),
	),
	safe_mode: Type.Optional(
		Type.Boolean({ default: true, description: "true: pictures that look like adult content are blurred" }),
	),
	enhance_prompt: Type.Optional(
		Type.Boolean({ default: false, description: "Accepted, without effect: prompts are never rewritten here" }),
	),
	disable_prompt_optimization_thinking: Type.Optional(Type.Boolean({ description: "Accepted, without effect" })),
};

/** Names of other services for our fields. */
export const MISNAMED_EDIT_FIELDS = { size: "aspect_ratio", format: "output_format", ratio: "aspect_ratio" };
