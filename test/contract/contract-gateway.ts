/** The whole service for programs that read its API document: every feature is on, and no limit is met. */
import { generatePrivateKey } from "viem/accounts";
import { startFullGateway } from "../support/full-gateway.ts";
import type { RunningGateway } from "../support/running-gateway.ts";
import { startScriptedChain } from "../support/scripted-chain.ts";

export interface ContractGateway {
	readonly gate: RunningGateway;
	/** Its API document. */
	document(): Promise<object>;
	stop(): Promise<void>;
}

const MANY = 1_000_000;
const LIMITS = {
	failedRequests: 0,
	listRequestsPerMinute: MANY,
	keyCreationsPerMinute: MANY,
	web3KeysPerMinute: MANY,
	topUpsPerMinute: MANY,
	walletReadsPerMinute: MANY,
	audioRequestsPerMinute: MANY,
	imageRequestsPerMinute: MANY,
	embeddingRequestsPerMinute: MANY,
	augmentRequestsPerMinute: MANY,
};
const PAY_TO = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";

export async function startContractGateway(): Promise<ContractGateway> {
	const chain = await startScriptedChain();
	const x402 = { payTo: PAY_TO, rpcUrl: chain.url, facilitator: { key: generatePrivateKey() } };
	const { gate, stop } = await startFullGateway(chain.url, { x402, limits: LIMITS });
	return {
		gate,
		document: async () => (await (await fetch(`${gate.url}/api/v1/openapi.json`)).json()) as object,
		async stop() {
			await stop();
			await chain.stop();
		},
	};
}
