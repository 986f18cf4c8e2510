/** What the event loop asks of the store about idempotency keys and credits, on any store. */

/** Several claims in one trip. Releases and drops come first: what they free can be claimed in the same trip. */
export interface IdempotencyBatch {
	readonly claims: readonly ClaimRequest[];
	/** Claims that ended without an answer. */
	readonly releases: readonly ReleasedClaim[];
	/** Answers whose body is damaged or gone. */
	readonly drops: readonly { readonly accountId: string; readonly key: string }[];
	/** Unix milliseconds: what expires at or before it is not there. */
	readonly nowMs: number;
	/** Keys that an account can have. */
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

/** What is there of one claim's key. */
export type StoredClaim =
	| {
			readonly kind: "kept";
			readonly status: number;
			readonly note: string;
			readonly bytes: number;
			readonly crc32: number;
			/** null: in the file that `file` names. */
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
	/** The first bucket wanted. */
	readonly fromBucket: number;
}
