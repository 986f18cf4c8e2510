/**
 * Providers of pictures as they are, written from their public references: each reads what it is sent in its own words, complains
 * about what it does not know, and answers in its own form.
 */
import type { ProviderName } from "../../../src/config/providers.ts";

export interface ImageRequest {
	readonly method: string;
	readonly path: string;
	readonly query: URLSearchParams;
	readonly headers: Headers;
	/** JSON, or the fields of a form; files as their bytes, several of one name as a list. */
	readonly body: Readonly<Record<string, unknown>>;
}

/** What a provider understood of a request for a picture. */
export interface Understood {
	prompt?: unknown;
	pictures: Uint8Array[];
	mask?: Uint8Array;
	size?: string;
	ratio?: unknown;
	seed?: unknown;
	/** The rest by its own names. */
	more: Record<string, unknown>;
}

export interface Stage {
	/** What is made of the request. */
	readonly picture: Uint8Array;
	/** Keeps a picture at an address of this server. */
	keep(): string;
	/** A whole address of this server. */
	at(path: string): string;
	/** True: the content is refused, in the provider's way. */
	readonly refuses: boolean;
	/** True once in a while: a job is not done yet. */
	pending(): boolean;
	understood(request: Understood): void;
}

export interface ImageScript {
	readonly provider: ProviderName;
	readonly model: string;
	readonly key: readonly [header: string, value: (key: string) => string];
	readonly options?: Readonly<Record<string, string>>;
	/** Members of a request for a picture; others are complained about. */
	readonly known: readonly string[];
	/** Which requests ask for a picture. */
	readonly asks: RegExp;
	answer(request: ImageRequest, stage: Stage): Response;
}

const bearer = ["authorization", (key: string) => `Bearer ${key}`] as const;
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64");
const ofBase64 = (text: unknown) => new Uint8Array(Buffer.from(String(text), "base64"));

/** The bytes of a data URL; throws for any other address: nothing else may be sent. */
function ofUrl(url: unknown): Uint8Array {
	const found = /^data:image\/(?:png|jpeg);base64,(.*)$/s.exec(String(url));
	if (found === null) throw new Error(`no data URL of a picture: ${String(url).slice(0, 40)}`);
	return ofBase64(found[1]);
}

function rest(body: Readonly<Record<string, unknown>>, ...taken: string[]): Record<string, unknown> {
	return Object.fromEntries(Object.entries(body).filter(([name]) => !taken.includes(name)));
}

const sizeOf = ({ width, height }: Readonly<Record<string, unknown>>) =>
	width === undefined ? {} : { size: `${String(width)}x${String(height)}` };

const google: ImageScript = {
	provider: "google",
	model: "gemini-3-pro-image-preview",
	key: ["x-goog-api-key", (key) => key],
	known: ["contents", "generationConfig"],
	asks: /:generateContent$/,
	answer({ body }, stage) {
		const [content] = body.contents as { parts: { text?: string; inlineData?: { data: string } }[] }[];
		const config = body.generationConfig as { responseModalities: string[]; seed?: number; imageConfig?: object };
		const image = config.imageConfig as { aspectRatio?: string; imageSize?: string } | undefined;
		stage.understood({
			prompt: content?.parts.find(({ text }) => text !== undefined)?.text,
			pictures: (content?.parts ?? []).flatMap(({ inlineData }) => (inlineData ? [ofBase64(inlineData.data)] : [])),
			ratio: image?.aspectRatio,
			seed: config.seed,
			more: { modalities: config.responseModalities, imageSize: image?.imageSize },
		});
		const usage = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 };
		if (stage.refuses)
			return Response.json({ candidates: [{ finishReason: "IMAGE_SAFETY", finishMessage: "not this" }], usageMetadata: usage });
		const part = { inlineData: { mimeType: "image/png", data: base64(stage.picture) } };
		return Response.json({
			candidates: [{ content: { role: "model", parts: [part] }, finishReason: "STOP" }],
			usageMetadata: usage,
		});
	},
};

const xai: ImageScript = {
	provider: "xai",
	model: "grok-imagine-image",
	key: bearer,
	known: ["model", "prompt", "n", "response_format", "aspect_ratio", "resolution", "quality", "image", "images"],
	asks: /\/images\/(?:edits|generations)$/,
	answer({ body, path }, stage) {
		const all = (body.images ?? (body.image === undefined ? [] : [body.image])) as { url: string; type: string }[];
		if (all.length > 0 !== path.endsWith("/edits")) throw new Error("pictures go to edits");
		stage.understood({
			prompt: body.prompt,
			pictures: all.map(({ url }) => ofUrl(url)),
			ratio: body.aspect_ratio,
			more: rest(body, "prompt", "aspect_ratio", "image", "images"),
		});
		const data = Array.from({ length: Number(body.n) }, () => ({
			b64_json: base64(stage.picture),
			respect_moderation: !stage.refuses,
		}));
		return Response.json({ data });
	},
};

const fal: ImageScript = {
	provider: "fal",
	model: "fal-ai/flux-2/edit",
	key: ["authorization", (key) => `Key ${key}`],
	known: [
		...["prompt", "seed", "image_size", "num_images", "image_url", "image_urls", "mask_url", "output_format", "quality"],
		...["negative_prompt", "num_inference_steps", "guidance_scale", "upscale_factor", "aspect_ratio"],
	],
	asks: /^\/fal-ai\//,
	answer({ body }, stage) {
		const urls = (body.image_urls ?? (body.image_url === undefined ? [] : [body.image_url])) as string[];
		stage.understood({
			prompt: body.prompt,
			pictures: urls.map(ofUrl),
			...(body.mask_url === undefined ? {} : { mask: ofUrl(body.mask_url) }),
			...sizeOf((body.image_size ?? {}) as Record<string, unknown>),
			seed: body.seed,
			more: rest(body, "prompt", "image_url", "image_urls", "mask_url", "image_size", "seed"),
		});
		if (stage.refuses) {
			const fault = { loc: ["body", "prompt"], msg: "The content was flagged.", type: "content_policy_violation" };
			return Response.json({ detail: [fault] }, { status: 422 });
		}
		return Response.json({ images: [{ url: stage.keep(), content_type: "image/png" }], seed: 1, has_nsfw_concepts: [false] });
	},
};

const blackForestLabs: ImageScript = {
	provider: "black-forest-labs",
	model: "flux-kontext-pro",
	key: ["x-key", (key) => key],
	known: [
		...["prompt", "seed", "aspect_ratio", "width", "height", "steps", "guidance", "output_format"],
		...["input_image", "input_image_2", "input_image_3", "image", "mask"],
	],
	asks: /\/flux-/,
	answer({ path, query, body }, stage) {
		if (path.endsWith("/get_result")) {
			if (query.get("id") !== "job-1") throw new Error("another job");
			if (stage.refuses) return Response.json({ id: "job-1", status: "Content Moderated", result: null });
			if (stage.pending()) return Response.json({ id: "job-1", status: "Pending", result: null });
			return Response.json({ id: "job-1", status: "Ready", result: { sample: stage.keep() } });
		}
		const pictures = ["input_image", "input_image_2", "input_image_3", "image"].flatMap((name) =>
			name in body ? [ofBase64(body[name])] : [],
		);
		stage.understood({
			prompt: body.prompt,
			pictures,
			...(body.mask === undefined ? {} : { mask: ofBase64(body.mask) }),
			...sizeOf(body),
			ratio: body.aspect_ratio,
			seed: body.seed,
			more: { output_format: body.output_format },
		});
		return Response.json({ id: "job-1", polling_url: stage.at("/get_result?id=job-1") });
	},
};

const replicate: ImageScript = {
	provider: "replicate",
	model: "black-forest-labs/flux-2-pro",
	key: bearer,
	known: ["input", "version"],
	asks: /\/predictions$/,
	answer({ path, method, headers, body }, stage) {
		const urls = { get: stage.at("/predictions/p1") };
		if (method === "GET") {
			if (stage.refuses) return Response.json({ status: "failed", error: "The input was flagged as sensitive. (E005)", urls });
			if (stage.pending()) return Response.json({ status: "processing", urls });
			if (!path.endsWith("/predictions/p1")) throw new Error("another prediction");
			return Response.json({ status: "succeeded", output: [stage.keep()], urls });
		}
		if (headers.get("prefer") !== "wait") throw new Error("no wait");
		const input = body.input as Record<string, unknown>;
		const names = ["input_image", "input_image_2", "input_image_3", "image"].filter((name) => name in input);
		stage.understood({
			prompt: input.prompt,
			pictures: names.map((name) => ofUrl(input[name])),
			...(input.mask === undefined ? {} : { mask: ofUrl(input.mask) }),
			ratio: input.aspect_ratio,
			seed: input.seed,
			more: rest(input, "prompt", "mask", "aspect_ratio", "seed", ...names),
		});
		return Response.json({ status: "starting", urls }, { status: 201 });
	},
};

const luma: ImageScript = {
	provider: "luma",
	model: "photon-1",
	key: bearer,
	known: ["prompt", "model", "aspect_ratio"],
	asks: /\/generations\/image$/,
	answer({ method, body }, stage) {
		if (method === "GET") {
			if (stage.refuses) return Response.json({ id: "g1", state: "failed", failure_reason: "frames moderation failed" });
			if (stage.pending()) return Response.json({ id: "g1", state: "dreaming" });
			return Response.json({ id: "g1", state: "completed", assets: { image: stage.keep() } });
		}
		stage.understood({ prompt: body.prompt, pictures: [], ratio: body.aspect_ratio, more: { model: body.model } });
		return Response.json({ id: "g1", state: "queued" }, { status: 201 });
	},
};

const fireworks: ImageScript = {
	provider: "fireworks",
	model: "accounts/fireworks/models/flux-kontext-pro",
	key: bearer,
	known: ["prompt", "aspect_ratio", "seed", "samples", "input_image", "width", "height", "guidance_scale", "num_inference_steps"],
	asks: /flux-kontext-pro$/,
	answer({ path, body }, stage) {
		if (path.endsWith("/get_result")) {
			if (body.id !== "r1") throw new Error("another request");
			if (stage.refuses) return Response.json({ id: "r1", status: "Request Moderated", result: null });
			if (stage.pending()) return Response.json({ id: "r1", status: "Pending", result: null });
			return Response.json({ id: "r1", status: "Ready", result: { sample: stage.keep() } });
		}
		stage.understood({
			prompt: body.prompt,
			pictures: body.input_image === undefined ? [] : [ofUrl(body.input_image)],
			...sizeOf(body),
			ratio: body.aspect_ratio,
			seed: body.seed,
			more: {},
		});
		return Response.json({ request_id: "r1" });
	},
};

const togetherai: ImageScript = {
	provider: "togetherai",
	model: "black-forest-labs/FLUX.1-kontext-pro",
	key: bearer,
	known: [
		"model",
		"prompt",
		"seed",
		"n",
		"width",
		"height",
		"image_url",
		"response_format",
		"steps",
		"guidance",
		"negative_prompt",
	],
	asks: /\/images\/generations$/,
	answer({ body }, stage) {
		stage.understood({
			prompt: body.prompt,
			pictures: body.image_url === undefined ? [] : [ofUrl(body.image_url)],
			...sizeOf(body),
			seed: body.seed,
			more: { response_format: body.response_format },
		});
		if (stage.refuses) return Response.json({ error: { message: "NSFW content detected in prompt" } }, { status: 422 });
		return Response.json({ data: Array.from({ length: Number(body.n ?? 1) }, () => ({ b64_json: base64(stage.picture) })) });
	},
};

function openAiForm(provider: ProviderName, model: string, known: readonly string[]): ImageScript {
	return {
		provider,
		model,
		key: bearer,
		known: ["model", "prompt", "image", "image[]", "mask", "n", "size", ...known],
		asks: /\/images\/edits$/,
		answer({ body }, stage) {
			const all = (body["image[]"] ?? body.image) as Uint8Array | Uint8Array[];
			stage.understood({
				prompt: body.prompt,
				pictures: Array.isArray(all) ? all : [all],
				...(body.mask === undefined ? {} : { mask: body.mask as Uint8Array }),
				size: String(body.size),
				more: rest(body, "model", "prompt", "image", "image[]", "mask", "n", "size"),
			});
			if (stage.refuses) {
				const error = {
					message: "Your request was rejected by the safety system.",
					code: "moderation_blocked",
					type: "user_error",
				};
				return Response.json({ error }, { status: 400 });
			}
			return Response.json({ created: 1, data: [{ b64_json: base64(stage.picture) }] });
		},
	};
}

const bedrock: ImageScript = {
	provider: "bedrock",
	model: "amazon.nova-canvas-v1:0",
	key: bearer,
	options: { region: "eu-west-1" },
	known: [
		"taskType",
		"inPaintingParams",
		"imageVariationParams",
		"textToImageParams",
		"backgroundRemovalParams",
		"imageGenerationConfig",
	],
	asks: /\/invoke$/,
	answer({ body }, stage) {
		const asked = (body.inPaintingParams ??
			body.imageVariationParams ??
			body.textToImageParams ??
			body.backgroundRemovalParams) as {
			text?: string;
			image?: string;
			images?: string[];
			maskImage?: string;
		};
		const config = (body.imageGenerationConfig ?? {}) as Record<string, unknown>;
		const pictures = asked.images ?? (asked.image === undefined ? [] : [asked.image]);
		stage.understood({
			prompt: asked.text,
			pictures: pictures.map(ofBase64),
			...(asked.maskImage === undefined ? {} : { mask: ofBase64(asked.maskImage) }),
			...sizeOf(config),
			seed: config.seed,
			more: { taskType: body.taskType },
		});
		if (stage.refuses) return Response.json({ id: "1", status: "Request Moderated", details: { "Moderation Reasons": ["x"] } });
		return Response.json({ images: [base64(stage.picture)] });
	},
};

export const IMAGE_SCRIPTS: readonly ImageScript[] = [
	google,
	{ ...google, provider: "google-vertex" },
	{
		...openAiForm("azure", "gpt-image-1.5", ["quality", "background", "output_format"]),
		key: ["api-key", (key) => key],
		options: { resource: "pictures" },
	},
	xai,
	fal,
	blackForestLabs,
	replicate,
	luma,
	fireworks,
	togetherai,
	openAiForm("deepinfra", "Qwen/Qwen-Image-Edit", []),
	openAiForm("openai", "gpt-image-1.5", ["quality", "background", "output_format"]),
	bedrock,
];
