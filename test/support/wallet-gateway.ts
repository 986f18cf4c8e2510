/** A gateway that wallets call: a chain whose every call costs 12,500 nano-USD, and a priced chat model. */
import { createAccount } from "../../src/store/admin.ts";
import { rpcUpstream } from "./rpc-gateway.ts";
import { type GatewayOptions, type RunningGateway, startGateway, upstreamEntry } from "./running-gateway.ts";
import { type ScriptedChain, startScriptedChain } from "./scripted-chain.ts";
import { startScriptedUpstream } from "./scripted-upstream.ts";

/** What a call of the chain costs: 20 credits. */
export const RPC_CALL_NANO = 12_500;
/** Costs 1 USD for a million tokens of input, 10 of output. */
export const CHAT_MODEL = "priced-model";

export interface WalletGateway {
	readonly gate: RunningGateway;
	readonly chain: ScriptedChain;
	/** One call of the chain. */
	rpc(headers: Record<string, string>, query?: string): Promise<Response>;
	/** A chat with an answer of `output` tokens. */
	chat(headers: Record<string, string>, output?: number): Promise<Response>;
	get(path: string, headers?: Record<string, string>): Promise<Response>;
	post(path: string, headers?: Record<string, string>): Promise<Response>;
	/** Gives a wallet an account with this balance, as a top-up does, where no chain is at hand. */
	fund(wallet: { readonly identity: string }, usd: string): Promise<string>;
	/** Gives an account diem for today. */
	stakeToday(accountId: string, diem: number): Promise<void>;
	/** Ends everything; throws where a hold is open or the books do not add up. */
	stop(): Promise<void>;
}

export async function startWalletGateway(
	options: Pick<GatewayOptions, "config" | "clock" | "audio" | "images"> = {},
): Promise<WalletGateway> {
	const chain = await startScriptedChain();
	const upstream = startScriptedUpstream();
	upstream.always(({ body }) => {
		const output = Number((body.messages as { content: string }[])[0]?.content ?? 1);
		return { usage: { prompt_tokens: 10, completion_tokens: output, total_tokens: 10 + output } };
	});
	const target = { upstream: "scripted", model: "scripted", weight: 1, order: 0 };
	const gate = await startGateway({
		...options,
		config: {
			upstreams: { scripted: upstreamEntry(upstream.url) },
			models: {
				entries: {
					[CHAT_MODEL]: {
						type: "text",
						price: { input: 1, output: 10 },
						contextTokens: 100_000,
						maxCompletionTokens: 50_000,
						upstreams: [target],
					},
				},
			},
			rpc: { networks: { "ethereum-mainnet": { enabled: true, upstreams: [rpcUpstream(chain.url)] } } },
			...options.config,
		},
	});
	const api = `${gate.url}/api/v1`;
	const post = (path: string, headers: Record<string, string> = {}, body?: object) =>
		fetch(`${api}${path}`, {
			method: "POST",
			headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
			...(body === undefined ? {} : { body: JSON.stringify(body) }),
		});
	return {
		gate,
		chain,
		rpc: (headers, query = "") =>
			post(`/crypto/rpc/ethereum-mainnet${query}`, headers, { jsonrpc: "2.0", id: 1, method: "eth_chainId" }),
		chat: (headers, output = 1) =>
			post("/chat/completions", headers, {
				model: CHAT_MODEL,
				messages: [{ role: "user", content: `${output}` }],
				max_completion_tokens: output,
			}),
		get: (path, headers = {}) => fetch(`${api}${path}`, { headers }),
		post,
		async fund({ identity }, usd) {
			const heard = new Promise<void>((resolve) => {
				const end = gate.openedStore.store.onChange(() => {
					end();
					resolve();
				});
			});
			const { id } = await createAccount(gate.admin, { name: identity, identity, startingCreditUsd: usd });
			await heard;
			return id;
		},
		async stakeToday(accountId, diem) {
			const today = Math.floor(Date.now() / 86_400_000);
			await gate.admin.db
				.insertInto("diem_stakes")
				.values({ account_id: accountId, from_day: today, stake: diem * 1e9, set_at: 0 })
				.execute();
		},
		async stop() {
			const report = await gate.audit();
			const { holdsOpen } = gate.gateway.budgets;
			await gate.stop();
			await Promise.all([chain.stop(), upstream.stop()]);
			if (!report.ok || holdsOpen !== 0) throw new Error(`books: ${JSON.stringify(report)}, holds open: ${holdsOpen}`);
		},
	};
}
