import type { ModelTarget } from "../../catalog/types.ts";
import type { UpstreamNode } from "../node.ts";
import { openAiImages } from "./openai-images.ts";
import type { ImageProtocol } from "./port.ts";

/** A provider's own, ComfyUI's where its entry says so, else OpenAI's. The first two are loaded with their first request. */
export function protocolOf(node: UpstreamNode, target: ModelTarget): ImageProtocol {
	if (node.provider !== null) return throughProvider;
	return target.protocol === "comfyui" ? throughComfy : openAiImages;
}

const throughProvider: ImageProtocol = async (call, attempt) => {
	const { providerImages } = await import("../providers/images/make.ts");
	return providerImages(call, attempt);
};

const throughComfy: ImageProtocol = async (call, attempt) => {
	const { comfyImages } = await import("./comfyui/comfy-images.ts");
	return comfyImages(call, attempt);
};
