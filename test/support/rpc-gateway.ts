/** A gateway in front of a scripted chain. */
import { type GatewayOptions, type RunningGateway, startGateway } from "./running-gateway.ts";
import { type ScriptedChain, startScriptedChain } from "./scripted-chain.ts";

export interface RpcGateway {
	readonly gate: RunningGateway;
	readonly chain: ScriptedChain;
	/** POST /crypto/rpc/{network}; default ethereum-mainnet, with the operator's key. */
	rpc(body: unknown, options?: RpcOptions): Promise<Response>;
	/** Requests that reached the chain. */
	readonly reached: number;
	stop(): Promise<void>;
}

export interface RpcOptions {
	readonly network?: string;
	readonly key?: string;
	readonly headers?: Record<string, string>;
	readonly signal?: AbortSignal;
}

/** One JSON-RPC request. */
export function request(method: string, params: unknown[] = [], id: unknown = 1): object {
	return { jsonrpc: "2.0", id, method, params };
}

/** An upstream of a network, as the configuration has it. */
export function rpcUpstream(url: string, part: object = {}): object {
	return { url, order: 0, weight: 1, health: { failures: 3, probeEveryMs: 5_000 }, ...part };
}

export async function startRpcGateway(options: GatewayOptions = {}): Promise<RpcGateway> {
	const chain = await startScriptedChain();
	const rpc = { networks: { "ethereum-mainnet": { enabled: true, upstreams: [rpcUpstream(chain.url)] } } };
	const gate = await startGateway({ ...options, config: merged({ rpc }, options.config ?? {}) });
	return {
		gate,
		chain,
		rpc(body, { network = "ethereum-mainnet", key = gate.key, headers = {}, signal } = {}) {
			return fetch(`${gate.url}/api/v1/crypto/rpc/${network}`, {
				method: "POST",
				headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
				body: typeof body === "string" ? body : JSON.stringify(body),
				...(signal ? { signal } : {}),
			});
		},
		get reached() {
			return chain.requests.length;
		},
		async stop() {
			await gate.stop();
			await chain.stop();
		},
	};
}

function merged(base: Record<string, object>, part: object): object {
	const sections = Object.entries(part).map(([name, section]) => [name, { ...base[name], ...section }]);
	return { ...base, ...Object.fromEntries(sections) };
}
