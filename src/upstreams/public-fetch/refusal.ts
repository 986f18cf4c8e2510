import { ApiError } from "../../errors/index.ts";
import { PublicFetchFault } from "./port.ts";

/**
 * What a fault of an address means for the caller that named it: a 400 that says why, with the issue code `url_<kind>`.
 * What is `busy` is a 503; anything else comes back as it is. A route with a 413 of its own looks at `kind` first.
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
