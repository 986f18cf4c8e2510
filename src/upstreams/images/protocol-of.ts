import type { ModelTarget } from "../../catalog/types.ts";
import type { UpstreamServer } from "../upstream-server.ts";
import { openAiImages } from "./openai-images.ts";
import type { ImageProtocol } from "./port.ts";

/**
 * Returns the protocol: a provider's own, ComfyUI's if the entry names it, else OpenAI's. The first two are loaded at
 * their first request.
 */
export function protocolOf(server: UpstreamServer, target: ModelTarget): ImageProtocol {
	if (server.provider !== null) return throughProvider;
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
