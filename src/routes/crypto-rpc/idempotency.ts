import type { IdempotencyTicket, StoredAnswer } from "../../budgets/port.ts";
import { ApiError } from "../../errors/index.ts";
import type { Call } from "../../server/call.ts";
import type { Answer } from "../../server/endpoint.ts";
import { IDEMPOTENCY_KEY } from "../../server/idempotency-key.ts";
import { costHeaders } from "./credits.ts";
import type { RpcDeps } from "./deps.ts";

/**
 * Returns the request's Idempotency-Key; null without one.
 * @throws ApiError IDEMPOTENCY_KEY_INVALID
 */
export function idempotencyKey(request: Request): string | null {
	const key = request.headers.get("idempotency-key");
	if (key !== null && !IDEMPOTENCY_KEY.test(key)) throw new ApiError("IDEMPOTENCY_KEY_INVALID");
	return key;
}

/** The state of an idempotency key for a request that will run: its ticket, and the sends of an earlier attempt. */
export interface KeyedRun {
	readonly ticket: IdempotencyTicket;
	/** Hashes by item of sends whose outcome an earlier attempt did not learn. */
	readonly unknownSends: ReadonlyMap<number, string | null>;
}

/**
 * Looks up the key: returns its stored answer, or the right to run.
 * @throws ApiError IDEMPOTENCY_KEY_REUSED, IDEMPOTENCY_IN_PROGRESS, or RATE_LIMIT_EXCEEDED if the account has the
 * maximum number of keys
 */
export async function claimKey(
	key: string,
	fingerprint: string,
	call: Call,
	{ idempotency }: RpcDeps,
): Promise<Answer | KeyedRun> {
	if (call.caller === null) throw new ApiError("AUTHENTICATION_FAILED");
	const claim = await idempotency.claim(call.caller, key, fingerprint);
	switch (claim.kind) {
		case "replay":
			return replayAnswer(claim.answer);
		case "reused":
			throw new ApiError("IDEMPOTENCY_KEY_REUSED", { message: "Idempotency-Key was used with a different body" });
		case "running":
			throw new ApiError("IDEMPOTENCY_IN_PROGRESS", { retryAfterSeconds: 1 });
		case "full":
			throw new ApiError("RATE_LIMIT_EXCEEDED", {
				message: "Rate limit exceeded",
				retryAfterSeconds: 3_600,
				extra: { customMessage: "Limit of idempotency keys per 24 hours reached; send without a key, or later" },
				limit: { kind: "RPD", subject: call.endpoint.name },
			});
		case "fresh":
			return { ticket: claim.ticket, unknownSends: new Map() };
		case "unknown":
			return { ticket: claim.ticket, unknownSends: readNote(claim.note) };
	}
}

/** Returns the note for `keepUnknown`: item -> hash. */
export function unknownNote(sends: ReadonlyMap<number, string | null>): string {
	return JSON.stringify([...sends]);
}

function readNote(note: string): ReadonlyMap<number, string | null> {
	return new Map(JSON.parse(note) as [number, string | null][]);
}

/** Returns a stored answer, which costs nothing. */
function replayAnswer({ status, body }: StoredAnswer): Answer {
	return { status, type: "application/json", body, headers: { ...costHeaders(0, 0), "Idempotent-Replayed": "true" } };
}
