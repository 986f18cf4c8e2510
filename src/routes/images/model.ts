import { EMBEDDED } from "../../catalog/index.ts";
import type { ModelOf, ModelTarget } from "../../catalog/types.ts";
import { ApiError } from "../../errors/index.ts";
import type { Call } from "../../server/call.ts";
import type { ImageDeps } from "./deps.ts";

/**
 * Returns the model of any name; the end of a retired one is reported.
 * @throws ApiError MODEL_NOT_FOUND, INVALID_MODEL, MODEL_REMOVED; MODEL_OFFLINE also for known models that are not
 * listed
 */
export function pictureModel<T extends "inpaint" | "image">(ref: string, type: T, call: Call, deps: ImageDeps): ModelOf<T> {
	const catalog = deps.catalog();
	if (catalog.isUnlisted(ref, type)) return catalog.own(ref, type, call.admittedAtMs);
	const { model, remappedFrom } = catalog.resolve(ref, type, call.admittedAtMs);
	Object.assign(call.headers, catalog.deprecationHeaders(model, call.admittedAtMs, remappedFrom));
	return model;
}

/** The makers of a picture: servers, and this machine before or after them. */
export interface PictureMakers {
	readonly servers: readonly ModelTarget[];
	readonly engine: "first" | "last" | "never";
}

export function makersOf(targets: readonly ModelTarget[]): PictureMakers {
	const own = targets.find(({ upstream }) => upstream === EMBEDDED);
	const servers = targets.filter(({ upstream }) => upstream !== EMBEDDED);
	if (own === undefined) return { servers, engine: "never" };
	return { servers, engine: servers.every(({ order }) => own.order < order) ? "first" : "last" };
}

/**
 * Makes a picture here or on servers; the next maker is tried where one fails without a fault of the request.
 * @throws the error of the last maker
 */
export async function byMakers<T>(
	{ servers, engine }: PictureMakers,
	signal: AbortSignal,
	here: () => Promise<T>,
	there: () => Promise<T>,
): Promise<T> {
	if (engine === "never") return there();
	if (servers.length === 0) return here();
	const [first, second] = engine === "first" ? [here, there] : [there, here];
	try {
		return await first();
	} catch (error) {
		const isOfCaller = !(error instanceof ApiError) || (error.status < 500 && error.status !== 429);
		if (signal.aborted || isOfCaller) throw error;
		return second();
	}
}
