/** A gateway that wallets pay: its chain is a real one with the real token, its facilitator in the process. */
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { headerOf, type Signing, startUsdcChain, type UsdcChain } from "./usdc-chain.ts";
import { startWalletGateway, type WalletGateway } from "./wallet-gateway.ts";
import { type TestWallet, walletOf } from "./wallets.ts";

export interface PayingGateway extends WalletGateway {
	readonly usdc: UsdcChain;
	/** Receives what wallets pay. */
	readonly payTo: `0x${string}`;
	/** A wallet with so much of the token. */
	payer(usd?: number): Promise<TestWallet>;
	/** A payment that the wallet signed, as PAYMENT-SIGNATURE has it. */
	payment(payer: TestWallet, signing?: Signing): Promise<string>;
	/** USD that the receiver has on the chain, in nano. */
	received(): Promise<number>;
}

export async function startPayingGateway(
	options: { readonly x402?: object; readonly config?: object; readonly usdc?: UsdcChain } = {},
): Promise<PayingGateway> {
	const usdc = options.usdc ?? (await startUsdcChain());
	const { key } = await usdc.feePayer();
	const payTo = privateKeyToAccount(generatePrivateKey()).address;
	const x402 = { payTo, rpcUrl: usdc.url, facilitator: { key }, sweepEveryMs: 3_600_000, ...options.x402 };
	const limits = { failedRequests: 0, topUpsPerMinute: 10_000 };
	const fixture = await startWalletGateway({ config: { limits, ...options.config, x402 } });
	return {
		...fixture,
		usdc,
		payTo,
		payer: async (usd = 1_000) => walletOf(await usdc.payer(usd)),
		payment: async ({ account }, signing = {}) => headerOf(await usdc.sign(account, payTo, signing)),
		received: async () => (await usdc.balance(payTo)) * 1_000,
		async stop() {
			await fixture.stop();
			if (options.usdc === undefined) await usdc.stop();
		},
	};
}

/** What a header of x402 holds. */
export function decoded<T = Record<string, unknown>>(header: string | null): T {
	return JSON.parse(Buffer.from(header ?? "", "base64").toString("utf8")) as T;
}
