import { randomFillSync } from "node:crypto";

const POOL_IDS = 256;
const pool = Buffer.alloc(16 * POOL_IDS);
let used = POOL_IDS;

/**
 * A new X-Request-ID: 32 hex characters, the time in front (48 bits of milliseconds, so that ids of one time stand
 * together in an index), then 80 random bits. A caller's own id is never adopted.
 */
export function newRequestId(): string {
	if (used === POOL_IDS) {
		randomFillSync(pool);
		used = 0;
	}
	const start = 16 * used++;
	pool.writeUIntBE(Date.now(), start, 6);
	return pool.toString("hex", start, start + 16);
}
