import { contractNode, signInOrigins, WalletSignIn } from "../access/index.ts";
import { type AddressWindows, Statements } from "../budgets/index.ts";
import type { Config } from "../config/index.ts";
import { type CreatedTopUps, createTopUps } from "../payments/index.ts";
import type { TopUpService } from "../payments/port.ts";
import type { RouteDeps } from "../routes/index.ts";
import { X402WalletAuth } from "../routes/x402-top-up/wallet-auth.ts";
import type { WalletAuth } from "../server/index.ts";
import { orApiError } from "../store/api-refusal.ts";
import type { StorePort } from "../store/port.ts";
import { type Clock, systemTimers } from "../telemetry/clock.ts";
import type { Log } from "../telemetry/log.ts";

export interface WalletsDeps {
	readonly config: () => Config;
	readonly store: StorePort;
	readonly clock: Clock;
	readonly log: Log;
	readonly addresses: AddressWindows;
	/** Returns the port that the server listens on. */
	readonly port: () => number;
}

/** Assembles how wallets sign in, pay and read their balance. Settings that `reload` does not apply need a restart. */
export class Wallets {
	readonly auth: WalletAuth;
	readonly routeDeps: Pick<RouteDeps, "topUp" | "walletBalance" | "walletTransactions">;
	/** Accepts payments of wallets; null if no receiver is configured. */
	readonly #created: CreatedTopUps | null;

	constructor({ config, store, clock, log, addresses, port }: WalletsDeps) {
		const { x402 } = config();
		this.#created = createTopUps({ config: config(), store, clock, timers: systemTimers, log });
		const signIn = new WalletSignIn({
			store,
			clock,
			log,
			origins: () => signInOrigins(config().server.publicUrl, port()),
			singleUse: () => config().siwx.singleUse,
			chain: contractNode(config()),
			takeContractCheck: (address) => void addresses.take(address, "siwx-contract", config().siwx.contractsPerMinute),
		});
		const topUps = this.#created === null ? null : withStoreErrors(this.#created.topUps);
		const topUpsPerMinute = () => config().limits.topUpsPerMinute;
		const readsPerMinute = () => config().limits.walletReadsPerMinute;
		const statements = new Statements(store);
		const limits = () => ({
			minimumUsd: x402.minimumTopUpUsd,
			suggestedUsd: x402.suggestedTopUpUsd,
			maximumUsd: x402.maximumTopUpUsd,
		});
		this.auth = new X402WalletAuth({ signIn, topUps, addresses, topUpsPerMinute });
		this.routeDeps = {
			topUp: { topUps, addresses, topUpsPerMinute, urlOf: ({ url }) => signIn.challenge(url).info.uri },
			walletBalance: { statements, limits, readsPerMinute },
			walletTransactions: { statements, readsPerMinute },
		};
	}

	/** Finishes payments that an earlier run left open. */
	start(): void {
		this.#created?.topUps.start();
	}

	/** Replaces facilitators and their secrets; other settings need a restart. */
	reload({ x402 }: Config): void {
		this.#created?.reload(x402);
	}

	async stop(): Promise<void> {
		await this.#created?.topUps.stop();
	}
}

/** Wraps the service so that a request gets 503 if the store is unreachable. */
function withStoreErrors(topUps: TopUpService): TopUpService {
	return {
		offers: topUps.offers,
		payOnRoutes: topUps.payOnRoutes,
		paymentOf: (headers) => topUps.paymentOf(headers),
		topUp: (header) => orApiError(topUps.topUp(header)),
	};
}
