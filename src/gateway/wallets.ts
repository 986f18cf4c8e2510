import { contractNode, signInOrigins, WalletSignIn } from "../access/index.ts";
import { type AddressWindows, Statements } from "../budgets/index.ts";
import type { Config } from "../config/index.ts";
import { createTopUps, type TopUps } from "../payments/index.ts";
import type { TopUpDesk } from "../payments/port.ts";
import { walletBalanceRoute } from "../routes/x402-balance/index.ts";
import { topUpRoute } from "../routes/x402-top-up/index.ts";
import { walletTransactionsRoute } from "../routes/x402-transactions/index.ts";
import type { Endpoint, WalletGate } from "../server/index.ts";
import { orApiError } from "../store/api-refusal.ts";
import type { StorePort } from "../store/port.ts";
import { type Clock, systemTimers } from "../telemetry/clock.ts";
import type { Log } from "../telemetry/log.ts";
import { WalletDoor } from "./wallet-door.ts";

export interface WalletsInputs {
	readonly config: () => Config;
	readonly store: StorePort;
	readonly clock: Clock;
	readonly log: Log;
	readonly addresses: AddressWindows;
	/** The port that is really listened on. */
	readonly port: () => number;
}

/** Wallets put together: how they sign in, pay and read what they have. Needs a restart where its configuration changes. */
export class Wallets {
	readonly gate: WalletGate;
	readonly routes: Endpoint[];
	/** Takes what wallets pay; null: no receiver is configured. */
	readonly #topUps: TopUps | null;

	constructor({ config, store, clock, log, addresses, port }: WalletsInputs) {
		const { x402 } = config();
		this.#topUps = createTopUps({ config: config(), store, clock, timers: systemTimers, log });
		const signIn = new WalletSignIn({
			store,
			clock,
			log,
			origins: () => signInOrigins(config().server.publicUrl, port()),
			singleUse: () => config().siwx.singleUse,
			chain: contractNode(config()),
			takeContractCheck: (address) => void addresses.take(address, "siwx-contract", config().siwx.contractsPerMinute),
		});
		const desk = this.#topUps === null ? null : answering(this.#topUps);
		const topUpsPerMinute = () => config().limits.topUpsPerMinute;
		const readsPerMinute = () => config().limits.walletReadsPerMinute;
		const statements = new Statements(store);
		const limits = () => ({
			minimumUsd: x402.minimumTopUpUsd,
			suggestedUsd: x402.suggestedTopUpUsd,
			maximumUsd: x402.maximumTopUpUsd,
		});
		this.gate = new WalletDoor({ signIn, desk, addresses, topUpsPerMinute });
		this.routes = [
			topUpRoute({ desk, addresses, topUpsPerMinute, urlOf: ({ url }) => signIn.challenge(url).info.uri }),
			walletBalanceRoute({ statements, limits, readsPerMinute }),
			walletTransactionsRoute({ statements, readsPerMinute }),
		];
	}

	/** Finishes payments that a server before this one left open. */
	start(): void {
		this.#topUps?.start();
	}

	async stop(): Promise<void> {
		await this.#topUps?.stop();
	}
}

/** Where the store cannot be asked a request gets 503. */
function answering(topUps: TopUpDesk): TopUpDesk {
	return {
		offers: topUps.offers,
		payOnRoutes: topUps.payOnRoutes,
		paymentOf: (headers) => topUps.paymentOf(headers),
		topUp: (header) => orApiError(topUps.topUp(header)),
	};
}
