/**
 * Pictures by providers, through their packages. image-capabilities.ts lists what each provider
 * takes and what we send it. The operator's `parameters` are sent as well, unchanged.
 */
import type { ImageModelV4, ImageModelV4CallOptions, ImageModelV4File } from "@ai-sdk/provider";
import { brokenAnswer, upstreamOffline } from "../../failures.ts";
import { isPicture } from "../../images/is-picture.ts";
import { requestedSize } from "../../images/nearest-size.ts";
import { fillParameters, namedPictures, parameterValues, placesFor, promptOf, type Values } from "../../images/parameters.ts";
import type { ImageAttempt, ImageForward, InputPicture } from "../../images/port.ts";
import { checkPictures } from "../../images/too-many-pictures.ts";
import { packageFailure } from "../chat/package-failure.ts";
import { loadProvider } from "../load-provider.ts";
import { PackageAnswers } from "./answers.ts";
import { IMAGE_CAPABILITIES, type ProviderImageCapabilities } from "./image-capabilities.ts";

/** Makes calls until there are `count` pictures. Throws UpstreamFailure, ApiError, and errors of connections. */
export async function providerImages(call: ImageForward, attempt: ImageAttempt): Promise<readonly Uint8Array[]> {
	const stopper = new AbortController();
	const signal = AbortSignal.any([attempt.signal, stopper.signal]);
	try {
		return await makePictures(call, { ...attempt, signal });
	} catch (error) {
		throw attempt.signal.aborted ? attempt.signal.reason : packageFailure(error);
	} finally {
		stopper.abort();
	}
}

async function makePictures(call: ImageForward, attempt: ImageAttempt): Promise<readonly Uint8Array[]> {
	const { model, fetch, fetchPublic, signal } = attempt;
	const config = attempt.server.provider;
	const capabilities = config === null ? undefined : IMAGE_CAPABILITIES[config.provider];
	if (config === null || capabilities === undefined) throw upstreamOffline("this upstream offers no pictures");
	if (capabilities.models?.test(model) === false)
		throw upstreamOffline(`${config.provider} has no pictures by the model ${model}`);
	const answers = new PackageAnswers({ config, fetch, fetchPublic, signal });
	const { image } = await loadProvider(config, { fetch: answers.fetch });
	if (image === undefined) throw upstreamOffline(`${config.provider} offers no pictures`);
	const inputs = await providerPictures(call, attempt, capabilities);
	const pictures: Uint8Array[] = [];
	while (pictures.length < call.count) {
		const count = Math.min(capabilities.perCall, call.count - pictures.length);
		// The same seed would make the same picture twice.
		const seed = call.seed === undefined ? undefined : call.seed + pictures.length;
		const result = await untilAborted(
			image(model).doGenerate(optionsOf(call, attempt, { capabilities, pictures: inputs, count, seed })),
			signal,
		);
		for (const one of result.images.slice(0, count)) pictures.push(requirePicture(await answers.bytesOf(one)));
		if (result.images.length === 0) throw brokenAnswer("an answer without a picture");
	}
	return pictures;
}

function requirePicture(picture: Uint8Array | null): Uint8Array {
	if (picture === null || !isPicture(picture)) throw brokenAnswer("an answer that is not a picture");
	return picture;
}

interface ProviderPictures {
	readonly files: ImageModelV4File[];
	readonly mask: ImageModelV4File | undefined;
	/** Pictures that the operator's parameters name, as data URLs. */
	readonly values: Values;
}

/** Returns the pictures in the provider's form: for its package, or for the operator's parameters that name them. */
async function providerPictures(
	call: ImageForward,
	{ model, target }: ImageAttempt,
	capabilities: ProviderImageCapabilities,
): Promise<ProviderPictures> {
	const parameters = target.parameters ?? {};
	const named = namedPictures(parameters);
	const pictures = call.pictures.filter(({ role }) => role === "picture");
	const mask = call.pictures.find(({ role }) => role === "mask");
	const byName = [...named].some((name) => name !== "mask");
	const kind = capabilities.mask(model) ?? (named.has("mask") ? "white" : null);
	checkPictures(call, {
		most: target.pictures ?? (byName ? placesFor(named) : capabilities.pictures(model)),
		mask: kind !== null,
	});
	const shownMask = mask === undefined || kind === null ? undefined : await maskAs(mask, kind);
	const url = (picture: InputPicture | undefined) => (picture === undefined ? undefined : dataUrl(picture));
	const [first, second, third] = byName ? pictures : [];
	return {
		files: byName ? [] : pictures.map((picture) => fileOf(picture, capabilities)),
		mask: shownMask === undefined || named.has("mask") ? undefined : fileOf(shownMask, capabilities),
		values: {
			image: url(first),
			image2: url(second),
			image3: url(third),
			images: named.has("images") && pictures.length > 0 ? pictures.map(dataUrl) : undefined,
			mask: named.has("mask") ? url(shownMask) : undefined,
		},
	};
}

async function maskAs(mask: InputPicture, kind: "transparent" | "white" | "black"): Promise<InputPicture> {
	if (kind === "transparent" || mask.inTwoColours === undefined) return mask;
	return { bytes: await mask.inTwoColours(kind), mediaType: "image/png", role: "mask" };
}

function fileOf({ bytes, mediaType }: InputPicture, { encoding }: ProviderImageCapabilities): ImageModelV4File {
	return { type: "file", mediaType, data: encoding === "bytes" ? bytes : Buffer.from(bytes).toString("base64") };
}

function dataUrl({ bytes, mediaType }: InputPicture): string {
	return `data:${mediaType};base64,${Buffer.from(bytes).toString("base64")}`;
}

interface CallDetails {
	readonly capabilities: ProviderImageCapabilities;
	readonly pictures: ProviderPictures;
	readonly count: number;
	readonly seed: number | undefined;
}

function optionsOf(
	call: ImageForward,
	attempt: ImageAttempt,
	{ capabilities, pictures, count, seed }: CallDetails,
): ImageModelV4CallOptions {
	const { model, target, signal } = attempt;
	const { dimensions, namespace } = capabilities;
	const size = dimensions.size ? requestedSize(call.size, target.sizes) : null;
	const isPromptless = capabilities.fixedTasksWithoutPrompt && (call.kind === "upscale" || call.kind === "background-remove");
	const parameters = fillParameters(target.parameters ?? {}, { ...parameterValues(call, seed), ...pictures.values });
	return {
		prompt: isPromptless ? undefined : promptOf(call),
		n: count,
		size: isPromptless || size === null ? undefined : (size as `${number}x${number}`),
		aspectRatio: dimensions.ratio && call.aspectRatio !== null ? (call.aspectRatio as `${number}:${number}`) : undefined,
		seed,
		files: pictures.files.length > 0 ? pictures.files : undefined,
		mask: pictures.mask,
		providerOptions: { [namespace]: { ...capabilities.options?.(call, model), ...parameters } },
		headers: { "x-request-id": call.requestId },
		abortSignal: signal,
	};
}

type Result = Awaited<ReturnType<ImageModelV4["doGenerate"]>>;

/** Rejects when the signal aborts. Some packages notice an abort only when they wake up between two polls. */
async function untilAborted(work: PromiseLike<Result>, signal: AbortSignal): Promise<Result> {
	const ended = Promise.withResolvers<never>();
	const end = () => ended.reject(signal.reason);
	if (signal.aborted) end();
	signal.addEventListener("abort", end, { once: true });
	try {
		return await Promise.race([work, ended.promise]);
	} finally {
		signal.removeEventListener("abort", end);
	}
}
