import { randomFillSync } from "node:crypto";

const POOL_IDS = 256;
const pool = Buffer.alloc(16 * POOL_IDS);
let used = POOL_IDS;

/**
 * Returns a new X-Request-ID: 32 hex characters. The first 48 bits are milliseconds, so that ids of one time are
 * adjacent in an index; 80 random bits follow. A caller's own id is never adopted.
 */
export function createRequestId(): string {
	if (used === POOL_IDS) {
		randomFillSync(pool);
		used = 0;
	}
	const start = 16 * used++;
	pool.writeUIntBE(Date.now(), start, 6);
	return pool.toString("hex", start, start + 16);
}
