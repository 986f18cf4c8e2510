/** Fields that several image routes have. */
import Type from "typebox";
import { MAX_PROMPT, OUTPUT_FORMATS, QUALITIES, RATIOS } from "./limits.ts";

export const promptField = (maxLength = MAX_PROMPT) =>
	Type.String({ minLength: 1, maxLength, description: "What is to be done; models have limits of their own" });

export const imageText = (description: string) => Type.Optional(Type.String({ minLength: 1, description }));

/** Fields of all edits. */
export const editChoices = {
	aspect_ratio: Type.Optional(
		Type.Enum([...RATIOS], { default: "auto", description: "auto: the model's ratio that is nearest to the first picture's" }),
	),
	resolution: Type.Optional(Type.String({ minLength: 1, maxLength: 10, description: "1K, 2K, 4K, as the model has them" })),
	quality: Type.Optional(Type.Enum([...QUALITIES], { description: "Ignored by models without; left out: the model's default" })),
	output_format: Type.Optional(
		Type.Enum([...OUTPUT_FORMATS, "jpg"], { description: "Left out: png for 1K, jpeg for 2K and 4K; jpg is jpeg" }),
	),
	safe_mode: Type.Optional(
		Type.Boolean({ default: true, description: "true: a picture that looks like adult content is blurred" }),
	),
	enhance_prompt: Type.Optional(Type.Boolean({ default: false, description: "Taken; prompts are never rewritten here" })),
	disable_prompt_optimization_thinking: Type.Optional(Type.Boolean({ description: "Taken; nothing here has that feature" })),
};

/** Names of other services for our fields. */
export const MISNAMED_EDIT_FIELDS = { size: "aspect_ratio", format: "output_format", ratio: "aspect_ratio" };
