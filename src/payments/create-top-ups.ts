import type { Config, X402Config } from "../config/index.ts";
import { readEvmAddress, readSolanaAddress } from "../schema/index.ts";
import type { StorePort } from "../store/port.ts";
import { type Clock, systemTimers, type Timers } from "../telemetry/clock.ts";
import type { Log } from "../telemetry/log.ts";
import { AuthorizationChain } from "./chain/authorization-chain.ts";
import { JsonRpc } from "./chain/json-rpc.ts";
import type { PaymentChain } from "./chain/payment-chain.ts";
import { TokenChain, WrongChain } from "./chain/token-chain.ts";
import { addressOfPrivateKey } from "./chain/typed-data.ts";
import { BroadcastQueue } from "./facilitator/broadcast-queue.ts";
import { LocalFacilitator } from "./facilitator/local-facilitator.ts";
import { type Facilitator, FacilitatorUnavailable, facilitatorByNetwork, ReplaceableFacilitator } from "./facilitator/port.ts";
import { RemoteFacilitator } from "./facilitator/remote-facilitator.ts";
import { type EvmNetwork, networkNamed, solanaNamed } from "./networks.ts";
import { FeePayer } from "./solana/fee-payer.ts";
import { SolanaChain } from "./solana/solana-chain.ts";
import { TopUps } from "./top-ups.ts";

export interface CreateTopUps {
	readonly config: Pick<Config, "x402" | "timeouts">;
	readonly store: Pick<StorePort, "admin" | "node" | "shared">;
	readonly clock: Clock;
	readonly timers: Timers;
	readonly log: Log;
}

export interface CreatedTopUps {
	readonly topUps: TopUps;
	/**
	 * Applies facilitators and their secrets of a new configuration. Running payments end with the one they began with.
	 */
	reload(x402: X402Config): void;
}

/** Creates top-ups as configured; null without a receiver. Nothing is called or loaded before `start`. */
export function createTopUps({ config, ...parts }: CreateTopUps): CreatedTopUps | null {
	const { x402, timeouts } = config;
	if (x402.payTo === undefined && x402.solana.payTo === undefined) return null;
	const { facilitatorMs } = timeouts;
	const configured = (of: X402Config) =>
		facilitatorByNetwork(facilitatorOf(of, facilitatorMs, parts), solanaFacilitatorOf(of, facilitatorMs, parts.timers));
	const facilitator = new ReplaceableFacilitator(configured(x402));
	const feePayer = feePayerOf(x402, parts);
	const chains = new Map(chainsOf(x402, parts.timers).map((chain) => [chain.network.id, chain]));
	return {
		topUps: new TopUps({ ...parts, config: x402, facilitatorMs, facilitator, feePayer, chains }),
		reload(next) {
			facilitator.replace(configured(next));
			feePayer?.replace(solanaFacilitator(next));
		},
	};
}

/** Returns the source of the fee payer on Solana; null if nobody can pay there. */
function feePayerOf(config: X402Config, parts: Pick<CreateTopUps, "clock" | "timers" | "log">): FeePayer | null {
	const { solana, rpcTimeoutMs: timeoutMs } = config;
	if (solana.payTo === undefined) return null;
	const { url, headers } = solanaFacilitator(config);
	return new FeePayer({
		...parts,
		configured: solana.feePayer,
		url,
		headers,
		network: solanaNamed(solana.network).id,
		timeoutMs,
	});
}

/** Returns Solana's own facilitator settings, or those of the other networks where they use HTTP. */
function solanaFacilitator({ facilitator, solana }: X402Config) {
	const hasOwnFacilitator = solana.facilitator.url !== undefined;
	return {
		url: hasOwnFacilitator ? solana.facilitator.url : facilitator.url,
		headers: (hasOwnFacilitator ? solana.facilitator : facilitator).headers ?? {},
	};
}

function solanaFacilitatorOf(config: X402Config, timeoutMs: number, timers: Timers): Facilitator {
	const { url, headers } = solanaFacilitator(config);
	return url === undefined ? NO_FACILITATOR : new RemoteFacilitator({ url, headers, timeoutMs, timers });
}

/** Returns the configured nodes. */
function nodesOf({ networks, rpcUrl }: X402Config): readonly { readonly network: EvmNetwork; readonly rpcUrl: string }[] {
	return Object.entries(networks).flatMap(([name, node]) => {
		const url = node.rpcUrl ?? rpcUrl;
		return url === undefined ? [] : [{ network: networkNamed(name), rpcUrl: url }];
	});
}

/** Returns each network that has a receiver and a node. */
export function chainsOf(config: X402Config, timers: Timers): PaymentChain[] {
	const solana = solanaChainOf(config, timers);
	return [...evmChainsOf(config, timers), ...(solana === null ? [] : [solana])];
}

function evmChainsOf(config: X402Config, timers: Timers): AuthorizationChain[] {
	if (config.payTo === undefined) return [];
	return nodesOf(config).map(({ network, rpcUrl }) => {
		const rpc = new JsonRpc({ url: rpcUrl, timeoutMs: config.rpcTimeoutMs, timers });
		return new AuthorizationChain(new TokenChain(network, rpc, config.finalBlock), config.confirmations);
	});
}

function solanaChainOf({ solana, rpcTimeoutMs: timeoutMs }: X402Config, timers: Timers): SolanaChain | null {
	const { payTo, network, rpcUrl: url, commitment } = solana;
	if (payTo === undefined || url === undefined) return null;
	return new SolanaChain(solanaNamed(network), payTo, new JsonRpc({ url, timeoutMs, timers }), commitment);
}

/** Part of the settlement's timeout after which its wait for a block ends, so that its hash arrives in time. */
const CONFIRMATION_PART = 0.8;

const NO_FACILITATOR: Facilitator = {
	name: "none",
	verify: () => Promise.reject(new FacilitatorUnavailable("no facilitator is configured")),
	settle: () => Promise.reject(new FacilitatorUnavailable("no facilitator is configured")),
};

function facilitatorOf(config: X402Config, timeoutMs: number, parts: Omit<CreateTopUps, "config">): Facilitator {
	const { url, key, headers = {} } = config.facilitator;
	if (url !== undefined) return new RemoteFacilitator({ url, headers, timeoutMs, timers: parts.timers });
	if (key === undefined) return NO_FACILITATOR;
	return new LocalFacilitator({
		key,
		nodes: new Map(nodesOf(config).map(({ network, rpcUrl }) => [network.id, { chainId: network.chainId, rpcUrl }])),
		rpcTimeoutMs: config.rpcTimeoutMs,
		confirmationTimeoutMs: Math.ceil(timeoutMs * CONFIRMATION_PART),
		eip6492Factories: config.eip6492Factories,
		broadcasts: new BroadcastQueue(parts),
	});
}

/**
 * The result of a check. `wrong`: a setting is at fault; `other-chain`: the node or its token differs from the
 * configured one; `incomplete`: something is missing; `not-now`: the condition may pass.
 */
export type TopUpsCheck = { readonly text: string } & (
	| { readonly state: "well" }
	/** `mend` is the line that repairs it. */
	| { readonly state: "not-now" | "incomplete" | "other-chain" | "wrong"; readonly mend: string }
);

const MEND = {
	payTo: "x402.payTo (TURNPIKE_X402_PAY_TO): the address as its wallet shows it",
	facilitator: "TURNPIKE_X402_KEY=0x... (a key that pays the chain's fees), or TURNPIKE_X402_FACILITATOR=https://...",
	solanaPayTo: "x402.solana.payTo (TURNPIKE_X402_SOLANA_PAY_TO): the address as its wallet shows it",
	solanaFacilitator: "TURNPIKE_X402_SOLANA_FACILITATOR=https://...",
	solanaNode: "TURNPIKE_X402_SOLANA_RPC=https://...",
	key: "TURNPIKE_X402_KEY: 0x and 64 hex digits",
} as const;

/** Returns the problems of the top-up configuration, one entry per network; empty without a receiver. Never rejects. */
export async function checkTopUps(config: X402Config): Promise<TopUpsCheck[]> {
	return [...(await checkEvm(config)), ...(await checkSolana(config))];
}

async function checkEvm(config: X402Config): Promise<TopUpsCheck[]> {
	const { payTo, facilitator, networks } = config;
	if (payTo === undefined) return [];
	if ((await readEvmAddress(payTo)) === null)
		return [{ state: "wrong", text: "x402.payTo: the checksum of the address (ERC-55) is wrong", mend: MEND.payTo }];
	if (/^0x0+$/.test(payTo))
		return [{ state: "wrong", text: "x402.payTo: is the zero address, to which the token sends nothing", mend: MEND.payTo }];
	if (facilitator.url === undefined && facilitator.key === undefined)
		return [
			{
				state: "incomplete",
				text: "x402.facilitator: neither url nor key is set: offers are made, payments are refused",
				mend: MEND.facilitator,
			},
		];
	const chains = new Map(evmChainsOf(config, systemTimers).map(({ token }) => [token.network.name, token]));
	return Promise.all(
		Object.keys(networks).map(async (name): Promise<TopUpsCheck> => {
			const chain = chains.get(networkNamed(name).name);
			if (chain === undefined)
				return {
					state: "incomplete",
					text: `x402.rpcUrl: no node of ${name}: offers are made, payments are refused`,
					mend: `x402.rpcUrl (TURNPIKE_X402_RPC): the address of a node of ${name}`,
				};
			try {
				await chain.check();
				const { number } = await chain.head();
				const fees = facilitator.key === undefined ? null : await feesOf(chain, facilitator.key);
				if (fees !== null) return fees;
				return { state: "well", text: `${payTo} receives USDC on ${name}, block ${number}` };
			} catch (error) {
				return notReadable(error, "x402.rpcUrl");
			}
		}),
	);
}

async function checkSolana(config: X402Config): Promise<TopUpsCheck[]> {
	const { payTo, network } = config.solana;
	if (payTo === undefined) return [];
	if (readSolanaAddress(payTo) === null)
		return [
			{ state: "wrong", text: "x402.solana.payTo: is no address that someone can have the key of", mend: MEND.solanaPayTo },
		];
	if (solanaFacilitator(config).url === undefined)
		return [
			{
				state: "incomplete",
				text: "x402.solana.facilitator.url: is not set: payments on Solana are refused",
				mend: MEND.solanaFacilitator,
			},
		];
	const chain = solanaChainOf(config, systemTimers);
	if (chain === null)
		return [
			{
				state: "incomplete",
				text: `x402.solana.rpcUrl: no node of ${network}: payments there are refused`,
				mend: MEND.solanaNode,
			},
		];
	try {
		await chain.check();
		if (!(await chain.canReceive()))
			return [
				{
					state: "incomplete",
					text: `x402.solana.payTo: ${payTo} has no account for USDC yet: nobody can pay it`,
					mend: `spl-token create-account MINT_OF_USDC --owner ${payTo}`,
				},
			];
		return [{ state: "well", text: `${payTo} receives USDC on ${network}, slot ${await chain.slot()}` }];
	} catch (error) {
		return [notReadable(error, "x402.solana.rpcUrl")];
	}
}

/** Describes a node that cannot be reached, or that serves another chain. */
function notReadable(error: unknown, setting: string): TopUpsCheck {
	const text = `x402: ${(error as Error).message}`;
	if (error instanceof WrongChain) return { state: "other-chain", text, mend: `${setting}: a node of the configured network` };
	return { state: "not-now", text, mend: `start that node, or set ${setting} to one that runs` };
}

/** Returns null if the address that pays the fees has a balance for them. */
async function feesOf(chain: TokenChain, key: string): Promise<TopUpsCheck | null> {
	const address = await addressOfPrivateKey(key);
	if (address === null) return { state: "wrong", text: "x402.facilitator.key: is no private key", mend: MEND.key };
	if ((await chain.feeBalance(address)) > 0n) return null;
	const text = `x402.facilitator.key: ${address} has nothing to pay the fees of ${chain.network.name} with: payments are refused`;
	return { state: "incomplete", text, mend: `send some of the coin of ${chain.network.name} to ${address}` };
}
