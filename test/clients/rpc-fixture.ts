/** A gateway before a real node, for clients that are used as they are published. */
import { type Anvil, startAnvil } from "../support/anvil.ts";
import { rpcUpstream } from "../support/rpc-gateway.ts";
import { type RunningGateway, startGateway, type TestKey } from "../support/running-gateway.ts";

/** The first of the accounts that anvil funds: its words are part of anvil's documentation. */
export const SENDER_KEY = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";
export const SENDER = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";
/** Nobody's. */
export const RECEIVER = "0x00000000000000000000000000000000000000A1";
export const CHAIN_ID = 8453;

export interface ClientChain {
	readonly gate: RunningGateway;
	readonly anvil: Anvil;
	/** What a client is given for its URL. */
	readonly url: string;
	readonly key: TestKey;
	/** Credits that the key's account paid so far. */
	credits(): Promise<number>;
	/** Ends everything; throws where a hold is open or the books do not add up. */
	stop(): Promise<void>;
}

const NANO_USD_PER_CREDIT = 625;

export async function startClientChain(): Promise<ClientChain> {
	const anvil = await startAnvil({ chainId: CHAIN_ID });
	const many = { requestsPerMinute: 1_000_000, creditsPerDay: 1_000_000_000 };
	const gate = await startGateway({
		config: {
			rpc: {
				networks: { "base-mainnet": { enabled: true, upstreams: [rpcUpstream(anvil.url)] } },
				limits: { paid: many, staff: many },
			},
		},
	});
	const key = await gate.newKey({ creditUsd: "10" });
	return {
		gate,
		anvil,
		url: `${gate.url}/api/v1/crypto/rpc/base-mainnet`,
		key,
		async credits() {
			const posts = (await gate.posts()).filter((post) => post.account_id === key.accountId);
			return posts.reduce((sum, { price }) => sum + Number(price), 0) / NANO_USD_PER_CREDIT;
		},
		async stop() {
			const report = await gate.audit();
			const { holdsOpen } = gate.gateway.budgets;
			await gate.stop();
			await anvil.kill();
			if (!report.ok || holdsOpen !== 0) throw new Error(`books: ${JSON.stringify(report)}, holds open: ${holdsOpen}`);
		},
	};
}
