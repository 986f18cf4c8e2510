import { ApiError } from "../errors/index.ts";
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
