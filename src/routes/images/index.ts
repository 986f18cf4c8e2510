/** The image routes. Each folder is one of them; what they share lies beside this file. */
import type { Endpoint } from "../../server/endpoint.ts";
import { imageBackgroundRemove } from "./background-remove/index.ts";
import type { ImageDeps } from "./deps.ts";
import { imageEdit } from "./edit/index.ts";
import { imageGenerate } from "./generate/index.ts";
import { openAiImageGenerations } from "./generations/index.ts";
import { imageMultiEdit } from "./multi-edit/index.ts";
import { openAiImageEdits } from "./openai-edits/index.ts";
import { imageStyles } from "./styles/index.ts";
import { imageUpscale } from "./upscale/index.ts";

export function imageRoutes(deps: ImageDeps): Endpoint[] {
	return [
		imageEdit(deps),
		imageMultiEdit(deps),
		openAiImageEdits(deps),
		imageGenerate(deps),
		...openAiImageGenerations(deps),
		imageUpscale(deps),
		imageBackgroundRemove(deps),
		imageStyles(),
	];
}

export type { ImageDeps } from "./deps.ts";
