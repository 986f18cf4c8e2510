import { ApiError } from "../errors/index.ts";
import { invalidRequest } from "../schema/index.ts";
import { AdminError } from "./admin/errors.ts";
import { StoreUnavailableError } from "./store-errors.ts";

/**
 * Waits for a call of the store on behalf of an API request, and turns its refusals into API errors: NOT_FOUND 404;
 * INVALID and CONFLICT 400 with the store's sentence; REFERENCE_USED 400 and MONEY_LEASED 409 with their own codes;
 * 503 for a store that cannot answer now. Other errors pass.
 */
export async function orApiError<T>(call: Promise<T>): Promise<T> {
	try {
		return await call;
	} catch (error) {
		throw apiErrorOf(error);
	}
}

function apiErrorOf(error: unknown): unknown {
	if (error instanceof AdminError) {
		const message = `${error.message.charAt(0).toUpperCase()}${error.message.slice(1)}`;
		if (error.code === "NOT_FOUND") return new ApiError("NOT_FOUND", { message });
		if (error.code === "REFERENCE_USED") return new ApiError("IDEMPOTENCY_KEY_REUSED", { message });
		if (error.code === "MONEY_LEASED") return new ApiError("BALANCE_IN_USE", { message, retryAfterSeconds: 5 });
		return invalidRequest([{ path: [], code: error.code.toLowerCase(), message }]);
	}
	if (error instanceof StoreUnavailableError) {
		const message = "The accounts cannot be read or changed right now; try again shortly";
		return new ApiError("SERVICE_UNAVAILABLE", { message, retryAfterSeconds: 1, cause: error });
	}
	return error;
}
