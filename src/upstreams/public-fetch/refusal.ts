import { ApiError } from "../../errors/index.ts";
import { PublicFetchFault } from "./port.ts";

/**
 * Converts a fault to the caller's error: a 400 with the issue code `url_<kind>`, or a 503 for `busy`. Returns other
 * errors unchanged. A route with a 413 of its own checks `kind` first.
 * @param path the field with the address
 */
export function refusedUrl(fault: unknown, path: readonly (string | number)[]): unknown {
	if (!(fault instanceof PublicFetchFault)) return fault;
	if (fault.kind === "busy") return new ApiError("SERVICE_UNAVAILABLE", { message: fault.message, retryAfterSeconds: 2 });
	const code = fault.kind === "url" ? "url_invalid" : `url_${fault.kind}`;
	return new ApiError("INVALID_REQUEST", {
		message: `${path.join(".")}: ${fault.message}`,
		param: path.join("."),
		issues: [{ path, code, message: fault.message }],
		cause: fault.cause,
	});
}
