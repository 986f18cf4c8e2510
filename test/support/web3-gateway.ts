/** A gateway for the tests of keys that wallets make: by wallets with keys of their own, against the table or a real chain. */
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { type AccountView, showAccount } from "../../src/store/admin.ts";
import type { Clock } from "../../src/telemetry/clock.ts";
import { CENT_MODEL, type CreatedKey, taken } from "./keys-gateway.ts";
import { type RunningGateway, startGateway, upstreamEntry } from "./running-gateway.ts";
import { startScriptedUpstream } from "./scripted-upstream.ts";
import type { StakingChain } from "./staking-chain/index.ts";

export interface Web3Gateway {
	readonly gate: RunningGateway;
	/** A new token. */
	token(): Promise<string>;
	/** POST with these members; the others are right for the wallet. */
	post(wallet: PrivateKeyAccount, body?: object): Promise<Response>;
	/** The key of a 200; throws with anything else. */
	mint(wallet: PrivateKeyAccount, body?: object): Promise<CreatedKey>;
	/** A wallet that is linked to an account of its own, with a stake that the operator set. */
	staker(diem?: string): Promise<{ readonly wallet: PrivateKeyAccount; readonly accountId: string }>;
	/** The account that a key belongs to. */
	owner(keyId: string): Promise<AccountView>;
	/** A chat request that costs a cent: `200`, or status and code. */
	spendCent(secret: string): Promise<string>;
	stop(): Promise<void>;
}

export const createWallet = (): PrivateKeyAccount => privateKeyToAccount(generatePrivateKey());

export interface Web3GatewayOptions {
	readonly clock?: Clock;
	readonly chain?: StakingChain;
	readonly limits?: object;
}

export async function startWeb3Gateway({ clock, chain, limits }: Web3GatewayOptions = {}): Promise<Web3Gateway> {
	const upstream = startScriptedUpstream();
	upstream.always(() => ({ usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } }));
	const onChain = chain && { chain: { rpcUrl: chain.url }, contract: chain.contract, confirmations: 2 };
	const gate = await startGateway({
		...(clock ? { clock } : {}),
		config: {
			...(onChain ? { staking: onChain } : {}),
			upstreams: { scripted: upstreamEntry(upstream.url) },
			models: {
				entries: {
					[CENT_MODEL]: {
						type: "text",
						price: { input: 0, output: 10_000 },
						contextTokens: 8192,
						maxCompletionTokens: 4096,
						upstreams: [{ upstream: "scripted", model: "scripted", weight: 1, order: 0 }],
					},
				},
			},
			limits: { failedRequests: 0, web3KeysPerMinute: 100_000, ...limits },
		},
	});
	const path = "/api_keys/generate_web3_key";
	const token = async () => (await taken<{ data: { token: string } }>(await gate.call("GET", path))).data.token;
	const post: Web3Gateway["post"] = async (wallet, body = {}) => {
		const signed = { token: await token(), ...body };
		const signature = await wallet.signMessage({ message: String(signed.token) });
		return gate.call("POST", path, { apiKeyType: "INFERENCE", address: wallet.address, signature, ...signed });
	};
	return {
		gate,
		token,
		post,
		mint: async (wallet, body) => (await taken<{ data: CreatedKey }>(await post(wallet, body))).data,
		async staker(stakeDiem = "5") {
			const wallet = createWallet();
			const { accountId } = await gate.newKey({ changes: { wallet: wallet.address, stakeDiem } });
			return { wallet, accountId };
		},
		async owner(keyId) {
			const keys = gate.admin.db.selectFrom("keys").select("account_id").where("id", "=", keyId);
			return showAccount(gate.admin, (await keys.executeTakeFirstOrThrow()).account_id);
		},
		async spendCent(secret) {
			const messages = [{ role: "user", content: "x" }];
			const answer = await gate.chat({ model: CENT_MODEL, messages, max_completion_tokens: 1 }, { key: secret });
			const text = await answer.text();
			return answer.ok ? "200" : `${answer.status} ${(JSON.parse(text) as { code: string }).code}`;
		},
		async stop() {
			await gate.stop();
			await upstream.stop();
		},
	};
}
