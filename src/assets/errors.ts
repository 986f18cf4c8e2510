/** Why an asset is missing. `message` is written for the operator and names the next step. */
export type AssetErrorCode =
	| "unknown-asset"
	| "bad-manifest"
	| "client-missing"
	| "client-failed"
	| "unreachable"
	| "wrong-size"
	| "wrong-hash"
	| "member-missing"
	| "bad-archive"
	| "disk-full"
	| "not-readable"
	| "no-source"
	| "aborted";

export class AssetError extends Error {
	override readonly name = "AssetError";
	readonly code: AssetErrorCode;

	constructor(code: AssetErrorCode, message: string, cause?: unknown) {
		super(message, cause === undefined ? undefined : { cause });
		this.code = code;
	}
}

/** Returns the system's code of an error (`ENOSPC`, `ECONNRESET`), "" if it has none. */
export function systemCode(fault: unknown): string {
	return fault instanceof Error && "code" in fault && typeof fault.code === "string" ? fault.code : "";
}

/**
 * Converts any error to an AssetError. A full disk has its own code, because no other source can help.
 * @param fallback the code for an error without a better one
 */
export function toAssetError(fault: unknown, fallback: AssetErrorCode, what: string): AssetError {
	if (fault instanceof AssetError) return fault;
	const code = systemCode(fault);
	if (code === "ENOSPC" || code === "EDQUOT" || code === "EFBIG")
		return new AssetError("disk-full", `${what}: no space left on the disk of the data folder; free some and try again`, fault);
	const text = fault instanceof Error ? fault.message : String(fault);
	return new AssetError(fallback, `${what}: ${text}`, fault);
}
