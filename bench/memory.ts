/** Memory of Turnpike over 200,000 requests: it must stay flat. */
import { faultsOf, measure } from "./load.ts";
import type { Target } from "./peers.ts";

const STEPS = 10;
const REQUESTS_PER_STEP = 20_000;
const STEP_SECONDS = 120;

export interface MemoryRun {
	readonly requests: number;
	/** Resident MB of all its processes after each tenth of the requests. */
	readonly rssMb: readonly number[];
	readonly peakMb: number;
}

export async function measureMemory(target: Target): Promise<MemoryRun> {
	const rssMb: number[] = [];
	let requests = 0;
	let peakMb = 0;
	for (let step = 0; step < STEPS; step++) {
		const row = await measure(target, { clients: 64, seconds: STEP_SECONDS, requests: REQUESTS_PER_STEP });
		if (faultsOf(row) > 0) throw new Error(`memory run: ${JSON.stringify(row.errors)}`);
		requests += row.answers;
		rssMb.push(row.rssMb);
		peakMb = row.peakMb;
		console.log(`memory, ${requests} requests: ${Math.round(row.rssMb)} MB`);
	}
	return { requests, rssMb, peakMb };
}
