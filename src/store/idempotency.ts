/** Calls of the event loop about idempotency keys and credits, for any store. */

/** Several claims in one call. Releases and drops come first: the same call can claim what they free. */
export interface IdempotencyBatch {
	readonly claims: readonly ClaimRequest[];
	/** Claims that ended without an answer. */
	readonly releases: readonly ReleasedClaim[];
	/** Answers whose body is damaged or missing. */
	readonly drops: readonly { readonly accountId: string; readonly key: string }[];
	/** Unix milliseconds: answers that expire at or before it are ignored. */
	readonly nowMs: number;
	/** Most keys that an account may have. */
	readonly maxKeys: number;
}

export interface ReleasedClaim {
	readonly accountId: string;
	readonly key: string;
	readonly claim: string;
}

export interface ClaimRequest extends ReleasedClaim {
	readonly fingerprint: string;
}

/** What the store has under one claim's key. */
export type StoredClaim =
	| {
			readonly kind: "kept";
			readonly status: number;
			readonly note: string;
			readonly bytes: number;
			readonly crc32: number;
			/** null: the body is in the file that `file` names. */
			readonly body: Uint8Array | null;
			readonly file: string | null;
	  }
	| { readonly kind: "reused" | "running" | "full" | "fresh" }
	| { readonly kind: "unknown"; readonly note: string };

/** Credits of one account in one bucket of `CREDIT_BUCKET_MS`. */
export interface CreditBucket {
	readonly accountId: string;
	readonly bucket: number;
	readonly credits: number;
}

export interface CreditQuery {
	readonly accountIds: readonly string[];
	/** The first bucket to return. */
	readonly fromBucket: number;
}
