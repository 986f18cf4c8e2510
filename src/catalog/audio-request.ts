/** Resolves the model of an audio request and its rate limit. */
import type { RateLimit } from "../budgets/port.ts";
import type { Config } from "../config/index.ts";
import { ApiError } from "../errors/index.ts";
import { lineNano, type Nano, type PicoPrice } from "../ledger/nano.ts";
import type { AccountTier } from "../store/port.ts";
import type { Catalog } from "./catalog.ts";
import type { ModelOf } from "./types.ts";

/**
 * Resolves a model reference: an id, trait or compatibility name. Options in a suffix are ignored.
 * @throws {ApiError} INVALID_MODEL for an unknown name (these routes have a closed list), MODEL_REMOVED, MODEL_OFFLINE
 */
export function resolveAudioModel<T extends "tts" | "asr">(catalog: Catalog, ref: string, type: T, nowMs: number): ModelOf<T> {
	try {
		return catalog.resolve(ref, type, nowMs).model;
	} catch (error) {
		if (!(error instanceof ApiError) || error.code !== "MODEL_NOT_FOUND") throw error;
		throw new ApiError("INVALID_MODEL", { message: error.message, param: "model" });
	}
}

/** Returns the requests per minute that an account may make to each audio model. */
export function audioRateLimit(tier: AccountTier, limits: Config["limits"]): RateLimit {
	return { requestsPerMinute: tier === "paid" ? limits.audioRequestsPerMinute : limits.audioPartnerRequestsPerMinute };
}

/** Returns the price of a number of units in nano-USD, rounded half up like the line of a charge. */
export function unitsNano(units: number, price: PicoPrice): Nano {
	return lineNano(units, price);
}
