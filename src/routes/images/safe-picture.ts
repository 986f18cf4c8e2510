import type { ImageEngine, Picture } from "../../engines/images/port.ts";
import { ApiError } from "../../errors/index.ts";
import type { Requester } from "../../fairness/index.ts";
import type { ImageDeps } from "./deps.ts";

/**
 * Returns the engine that every image route needs.
 * @throws ApiError MODEL_OFFLINE if it cannot run here
 */
export function engineOf({ engine }: Pick<ImageDeps, "engine">): ImageEngine {
	if (engine !== null) return engine;
	throw new ApiError("MODEL_OFFLINE", {
		message: "Pictures cannot be read or written on this machine: turnpike doctor says why",
	});
}

/**
 * Returns true if results must be checked: unless the caller disables that and the operator allows it.
 * @throws ApiError MODEL_OFFLINE if checking is not possible yet, so that no unusable picture is made
 */
export async function isChecked(requested: boolean | undefined, deps: Pick<ImageDeps, "engine" | "config">): Promise<boolean> {
	const { safeMode } = deps.config().images;
	if (requested === false && safeMode.optional) return false;
	const engine = engineOf(deps);
	const state = await engine.scorerState();
	if (state.state === "ready") return true;
	engine.prefetch();
	const without = safeMode.optional ? " Requests with safe mode off are answered." : "";
	throw new ApiError("MODEL_OFFLINE", { message: `Safe mode cannot look at pictures now: ${state.text}.${without}` });
}

export interface SafePicture {
	readonly picture: Picture;
	readonly isBlurred: boolean;
}

/** Returns the picture to send: blurred where its score is above the operator's threshold. */
export async function safePicture(
	picture: Picture,
	mustCheck: boolean,
	deps: ImageDeps,
	requester: Requester,
): Promise<SafePicture> {
	if (!mustCheck) return { picture, isBlurred: false };
	const engine = engineOf(deps);
	const score = await engine.score(picture.bytes, requester);
	if (score <= deps.config().images.safeMode.threshold) return { picture, isBlurred: false };
	const format = picture.mediaType === "image/png" ? "png" : picture.mediaType === "image/webp" ? "webp" : "jpeg";
	return { picture: await engine.blur(picture.bytes, { format }, requester), isBlurred: true };
}

/** Returns the headers of docs/images.md, Safe mode. */
export function safetyHeaders(isBlurred: boolean): Record<string, string> {
	return { "x-service-is-blurred": String(isBlurred), "x-service-is-content-violation": "false" };
}
