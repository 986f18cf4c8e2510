import { ApiError } from "./api-error.ts";

/** The code of an issue for a feature that the model lacks. */
const UNSUPPORTED = "unsupported";

/**
 * Runs checks of a request against a model. A refusal because the model lacks a feature (an issue with the code
 * `unsupported`) is marked for the account's log of limits, under the model's name. Throws what the checks throw.
 */
export function markUnsupported<T>(modelId: string, checks: () => T): T {
	try {
		return checks();
	} catch (thrown) {
		if (!(thrown instanceof ApiError) || !thrown.options.issues?.some(({ code }) => code === UNSUPPORTED)) throw thrown;
		throw new ApiError(thrown.code, { ...thrown.options, limit: { kind: "UNSUPPORTED_FEATURE_REQUESTS", subject: modelId } });
	}
}
