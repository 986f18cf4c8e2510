import { ApiError } from "../errors/index.ts";

export const IDEMPOTENCY_KEY = /^[A-Za-z0-9_-]{1,255}$/;

/** Reads the request's Idempotency-Key; null if it has none. Throws 400 IDEMPOTENCY_KEY_INVALID. */
export function readIdempotencyKey(request: Request): string | null {
	const key = request.headers.get("idempotency-key");
	if (key === null || IDEMPOTENCY_KEY.test(key)) return key;
	throw new ApiError("IDEMPOTENCY_KEY_INVALID", { message: "Invalid Idempotency-Key: it has 1 to 255 of A-Z a-z 0-9 _ and -" });
}

/** Throws 400 on a route that stores no answers, since a caller that sends a key relies on a single charge. */
export function refuseIdempotencyKey(request: Request): void {
	if (!request.headers.has("idempotency-key")) return;
	throw new ApiError("IDEMPOTENCY_KEY_INVALID", {
		message: "This route keeps no answers: a repeated request runs again, and is charged again. Leave Idempotency-Key out",
	});
}
