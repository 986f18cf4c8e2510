/** Calls of the chain forwarding as a route makes them, for tests of the forwarding alone. */
import { join } from "node:path";
import { loadRpcCatalog } from "../../src/catalog/rpc/index.ts";
import type { RpcMethod, RpcNetwork } from "../../src/catalog/rpc/types.ts";
import type { RpcConfig, RpcUpstreamConfig } from "../../src/config/index.ts";
import { silentLog } from "../../src/telemetry/log.ts";
import type { TimerClock } from "../../src/telemetry/timer-clock.ts";
import type { RpcCall, RpcItem, RpcOutcome, RpcStream } from "../../src/upstreams/rpc/port.ts";
import { createRpcUpstreams, type RpcUpstreamsOptions } from "../../src/upstreams/rpc/upstreams.ts";

export const RPC_CATALOG = loadRpcCatalog(join(import.meta.dir, "../../catalog/rpc"));

export function networkOf(slug: string): RpcNetwork {
	const network = RPC_CATALOG.networks.get(slug) ?? RPC_CATALOG.optionalNetworks.get(slug);
	if (network === undefined) throw new Error(`no network ${slug}`);
	return network;
}

export function methodOf(name: string): RpcMethod {
	const found = RPC_CATALOG.resolve(name);
	if ("refusal" in found) throw new Error(`${name} is refused`);
	return found.method;
}

export function itemOf(method: string, params: unknown = [], txHash?: string): RpcItem {
	const text = typeof params === "string" ? params : JSON.stringify(params);
	return { method: methodOf(method), params: Buffer.from(text), ...(txHash === undefined ? {} : { txHash }) };
}

export type UpstreamEntry = Pick<RpcUpstreamConfig, "url"> & Partial<RpcUpstreamConfig>;

export function rpcConfig(
	networks: Readonly<Record<string, readonly UpstreamEntry[]>>,
	more: Partial<RpcConfig> = {},
): RpcConfig {
	const filled = Object.entries(networks).map(([slug, upstreams]) => [
		slug,
		{ upstreams: upstreams.map((entry) => ({ order: 0, weight: 1, health: { failures: 3, probeEveryMs: 200 }, ...entry })) },
	]);
	return {
		networks: Object.fromEntries(filled),
		public: false,
		pricePerCreditUsd: 0.000000625,
		limits: {
			paid: { requestsPerMinute: 100, creditsPerDay: 10_000_000 },
			staff: { requestsPerMinute: 1_000, creditsPerDay: 100_000_000 },
		},
		hedgePercent: 10,
		cacheMb: 64,
		sendsKeptDays: 400,
		...more,
	};
}

/** Upstreams of ethereum-mainnet, in this order of preference. */
export async function rpcUpstreams(upstreams: readonly (string | UpstreamEntry)[], more: Partial<RpcUpstreamsOptions> = {}) {
	const entries = upstreams.map((entry, order) => (typeof entry === "string" ? { url: entry, order } : { order, ...entry }));
	const running = createRpcUpstreams({
		catalog: RPC_CATALOG,
		config: rpcConfig({ "ethereum-mainnet": entries }),
		timeouts: { rpcMs: 5_000, rpcSlowMs: 5_000 },
		log: silentLog,
		...more,
	});
	await running.checked();
	return running;
}

export function callOf(items: RpcItem | readonly RpcItem[], more: Partial<RpcCall> = {}): RpcCall {
	return {
		network: networkOf("ethereum-mainnet"),
		items: Array.isArray(items) ? (items as readonly RpcItem[]) : [items as RpcItem],
		requestId: "r".repeat(32),
		tenant: "acc_a",
		signal: new AbortController().signal,
		...more,
	};
}

export function textOf(outcome: RpcOutcome | RpcStream): string {
	if (!("value" in outcome) || !(outcome.value instanceof Uint8Array)) throw new Error(`${outcome.kind} has no bytes here`);
	return Buffer.from(outcome.value).toString();
}

/** Real timers in a time that runs `factor` times as fast, and jumps where it is told. */
export function fastClock(factor: number): TimerClock & { jump(ms: number): void } {
	let aheadMs = 0;
	return {
		monotonicMs: () => performance.now() * factor + aheadMs,
		after(delayMs, action) {
			const timer = setTimeout(action, delayMs / factor);
			return () => clearTimeout(timer);
		},
		jump: (ms) => {
			aheadMs += ms;
		},
	};
}
