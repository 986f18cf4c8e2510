import { ApiError } from "../../errors/index.ts";

/** The keys of a sealed conversation, as its headers name them (docs/sealed-chat.md). */
export interface SealedKeys {
	readonly clientKey: string;
	readonly modelKey: string;
}

const CLIENT_KEY = "x-service-tee-client-pub-key";
const MODEL_KEY = "x-service-tee-model-pub-key";
const ALGORITHM = "x-service-tee-signing-algo";

const UNCOMPRESSED = /^04[0-9a-f]{128}$/i;
const MODEL_KEY_FORM = /^(?:04)?[0-9a-f]{128}$/i;

/** Returns true if a request has any of the headers. */
export function hasSealedHeaders(headers: Headers): boolean {
	return [CLIENT_KEY, MODEL_KEY, ALGORITHM].some((name) => headers.has(name));
}

/**
 * Reads the keys.
 * @throws ApiError INVALID_REQUEST if one of the three headers is missing or malformed
 */
export function sealedKeys(headers: Headers): SealedKeys {
	const [clientKey, modelKey, algorithm] = [CLIENT_KEY, MODEL_KEY, ALGORITHM].map((name) => {
		const value = headers.get(name);
		if (value === null) throw headerError(`${name} is missing: a sealed conversation has all three of its headers`);
		return value;
	}) as [string, string, string];
	if (!UNCOMPRESSED.test(clientKey)) throw headerError(`${CLIENT_KEY} must be an uncompressed key: 130 hex digits, 04 first`);
	if (!MODEL_KEY_FORM.test(modelKey)) throw headerError(`${MODEL_KEY} must be the signing_key of the attestation`);
	if (algorithm.toLowerCase() !== "ecdsa") throw headerError(`${ALGORITHM} must be ecdsa`);
	return { clientKey, modelKey };
}

function headerError(message: string): ApiError {
	return new ApiError("INVALID_REQUEST", { message });
}
