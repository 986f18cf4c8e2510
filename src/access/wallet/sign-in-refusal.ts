import { ApiError } from "../../errors/index.ts";

/** Why a sign-in is refused, as sent in `details.reason`. It contains only what the sender already knows. */
export type SignInFault =
	| "header_conflict"
	| "header_too_large"
	| "malformed_header"
	| "malformed_payload"
	| "unsupported_chain"
	| "malformed_message"
	| "chain_mismatch"
	| "address_mismatch"
	| "domain_mismatch"
	| "uri_mismatch"
	| "unsupported_version"
	| "malformed_nonce"
	| "invalid_timestamp"
	| "issued_at_out_of_range"
	| "expired"
	| "expires_too_late"
	| "not_yet_valid"
	| "signature_mismatch"
	| "nonce_used";

/** Returns the 401 for an invalid sign-in. */
export function refusedSignIn(reason: SignInFault): ApiError {
	return new ApiError("X402_INVALID_SIGN_IN", { extra: { details: { reason } } });
}
