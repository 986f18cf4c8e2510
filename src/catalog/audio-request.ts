/** What the audio routes ask of the catalog: the model that a request means, and how often it may be asked. */
import type { RateLimit } from "../budgets/port.ts";
import type { Config } from "../config/index.ts";
import { ApiError } from "../errors/index.ts";
import { lineNano, type Nano, type PicoPrice } from "../ledger/nano.ts";
import type { AccountTier } from "../store/port.ts";
import type { Catalog } from "./catalog.ts";
import type { ModelOf } from "./types.ts";

/**
 * The model of a reference, id, trait or foreign name. Options in it mean nothing here.
 * @throws ApiError INVALID_MODEL for a name that is not known (these routes have a closed list), MODEL_REMOVED, MODEL_OFFLINE
 */
export function resolveAudioModel<T extends "tts" | "asr">(catalog: Catalog, ref: string, type: T, nowMs: number): ModelOf<T> {
	try {
		return catalog.resolve(ref, type, nowMs).model;
	} catch (error) {
		if (!(error instanceof ApiError) || error.code !== "MODEL_NOT_FOUND") throw error;
		throw new ApiError("INVALID_MODEL", { message: error.message, param: "model" });
	}
}

/** Requests a minute that an account has of each audio model. */
export function audioRateLimit(tier: AccountTier, limits: Config["limits"]): RateLimit {
	return { requestsPerMinute: tier === "paid" ? limits.audioRequestsPerMinute : limits.audioPartnerRequestsPerMinute };
}

/** What so many units cost, in nano-USD: rounded half up, as the line of a charge is. */
export function unitsNano(units: number, price: PicoPrice): Nano {
	return lineNano(units, price);
}
