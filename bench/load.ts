/** One measurement: a load against a target, with what the target used for it. */
import { join } from "node:path";
import { BUILD, type Target } from "./peers.ts";
import { processTree, usageOf } from "./process-accounting.ts";

export interface LoadOptions {
	readonly clients: number;
	readonly seconds: number;
	readonly stream?: boolean;
	/** Asks a chain's node in place of a model. */
	readonly rpc?: "call" | "block" | "batch" | "logs";
	/** Requests in all; the run ends with whichever comes first. */
	readonly requests?: number;
	/** Requests a second in all. */
	readonly rate?: number;
}

interface Percentiles {
	readonly p50: number;
	readonly p95: number;
	readonly p99: number;
	readonly max: number;
}

interface LoadResult {
	readonly answers: number;
	readonly seconds: number;
	readonly errors: Readonly<Record<string, number>>;
	/** Until the first byte of the body. */
	readonly firstMs: Percentiles;
	/** Until its last byte. */
	readonly wholeMs: Percentiles;
}

export interface Measurement extends LoadResult {
	readonly perSecond: number;
	/** Microseconds of processor time of the target's processes for one answer. */
	readonly cpuUs: number;
	readonly rssMb: number;
	readonly peakMb: number;
}

/** Answers that were wrong, cut off or missing. */
export function faultsOf(measured: LoadResult): number {
	return Object.values(measured.errors).reduce((sum, count) => sum + count, 0);
}

async function runLoad(target: Target, options: LoadOptions): Promise<LoadResult> {
	const flags = {
		address: target.address,
		path: target.path,
		key: target.key,
		clients: options.clients,
		duration: `${options.seconds}s`,
		stream: options.stream ?? false,
		rpc: options.rpc ?? "",
		requests: options.requests ?? 0,
		rate: options.rate ?? 0,
	};
	const load = Bun.spawn([join(BUILD, "load"), ...Object.entries(flags).map(([name, value]) => `-${name}=${value}`)], {
		env: { ...process.env, GOMAXPROCS: "1" },
		stderr: "inherit",
	});
	return JSON.parse(await new Response(load.stdout).text()) as LoadResult;
}

/** Warms the target up, then measures. */
export async function measure(target: Target, options: LoadOptions): Promise<Measurement> {
	if (options.requests === undefined) await runLoad(target, { ...options, seconds: Math.min(4, options.seconds) });
	const before = usageOf(processTree(target.pid));
	const result = await runLoad(target, options);
	const after = usageOf(processTree(target.pid));
	return {
		...result,
		perSecond: result.answers / result.seconds,
		cpuUs: ((after.cpuMs - before.cpuMs) * 1_000) / Math.max(1, result.answers),
		rssMb: after.rssMb,
		peakMb: after.peakMb,
	};
}
