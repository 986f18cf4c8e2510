/** Top-ups on Solana around a real store, with a facilitator over HTTP. */
import { createTopUps } from "../../src/payments/create-top-ups.ts";
import type { TopUpOutcome } from "../../src/payments/port.ts";
import type { TopUps, TopUpsDeps } from "../../src/payments/top-ups.ts";
import { type AdminOperation, runOperation } from "../../src/store/admin/operations.ts";
import type { AdminStore } from "../../src/store/admin.ts";
import { type Clock, systemClock, systemTimers } from "../../src/telemetry/clock.ts";
import { silentLog } from "../../src/telemetry/log.ts";
import { testConfig } from "./running-gateway.ts";
import { SOLANA, type SolanaCluster } from "./solana-cluster.ts";
import type { SolanaFacilitator } from "./solana-facilitator.ts";
import type { Requirements, SolanaPackages } from "./solana-packages.ts";
import { base64 } from "./usdc-chain.ts";
import type { TestSolanaWallet } from "./wallets.ts";

export interface SolanaTopUpOptions {
	readonly dir: string;
	readonly admin: AdminStore;
	readonly cluster: Pick<SolanaCluster, "url">;
	readonly facilitator: Pick<SolanaFacilitator, "url">;
	readonly payTo: string;
	readonly facilitatorMs?: number;
	readonly solana?: object;
	readonly clock?: Clock;
}

export class SolanaTopUpService {
	readonly payTo: string;
	readonly topUps: TopUps;
	readonly config: TopUpsDeps["config"];
	readonly #admin: AdminStore;

	constructor({
		dir,
		admin,
		cluster,
		facilitator,
		payTo,
		facilitatorMs = 20_000,
		clock = systemClock,
		...rest
	}: SolanaTopUpOptions) {
		this.payTo = payTo;
		this.#admin = admin;
		const solana = { payTo, rpcUrl: cluster.url, facilitator: { url: facilitator.url }, ...rest.solana };
		const config = testConfig({ x402: { solana, sweepEveryMs: 86_400_000 }, timeouts: { facilitatorMs } }, dir);
		this.config = config.x402;
		const store = {
			node: { id: "node_a", epoch: 1 },
			shared: admin.shared,
			admin: (<Name extends AdminOperation>(name: Name, input: never) =>
				runOperation(admin, name, input)) as TopUpsDeps["store"]["admin"],
		};
		const created = createTopUps({ config, store, clock, timers: systemTimers, log: silentLog });
		if (created === null) throw new Error("no receiver is configured");
		this.topUps = created.topUps;
	}

	topUp(header: string): Promise<TopUpOutcome> {
		return this.topUps.topUp(header);
	}

	/** All open payments are looked at now, whenever it is their time. */
	async sweep(): Promise<void> {
		await this.#admin.db.updateTable("top_ups").set({ look_at: 0 }).where("state", "in", ["settling", "unknown"]).execute();
		await this.topUps.sweep();
	}

	async states(): Promise<readonly string[]> {
		return (await runOperation(this.#admin, "listTopUps", { after: "", limit: 100 })).map(({ state }) => state);
	}

	/** Base units that the books hold of top-ups to this receiver. */
	async credited(): Promise<number> {
		const { total } = await this.#admin.db
			.selectFrom("top_ups")
			.innerJoin("credits", "credits.movement_id", "top_ups.movement_id")
			.select(({ fn }) => fn.sum<string | number | bigint>("credits.amount").as("total"))
			.where("top_ups.pay_to", "=", this.payTo)
			.executeTakeFirstOrThrow();
		return Number(total ?? 0) / 1_000;
	}
}

export interface SolanaSigning {
	readonly usd?: number;
	/** What is signed; members that are left out are those of a good payment. */
	readonly signed?: Partial<Requirements>;
	/** What is said to be accepted, where it is something else. */
	readonly accepted?: object;
}

/** A payment that a wallet signed, as its client makes it. */
export async function solanaPayment(
	packages: SolanaPackages,
	cluster: Pick<SolanaCluster, "url">,
	{ payer, payTo, feePayer }: { readonly payer: TestSolanaWallet; readonly payTo: string; readonly feePayer: string },
	{ usd = 5, signed, accepted }: SolanaSigning = {},
): Promise<{ readonly header: string; readonly transaction: string }> {
	const offered = {
		scheme: "exact",
		network: SOLANA.id,
		amount: String(Math.round(usd * 1e6)),
		asset: SOLANA.asset,
		payTo,
		maxTimeoutSeconds: 300,
		extra: { feePayer },
	};
	const signer = await packages.kit.createKeyPairSignerFromPrivateKeyBytes(payer.seed);
	const scheme = new packages.PayingScheme(signer, { rpcUrl: cluster.url });
	const { payload } = await scheme.createPaymentPayload(2, { ...offered, ...signed });
	const header = base64({ x402Version: 2, accepted: { ...offered, ...accepted }, payload });
	return { header, transaction: payload.transaction };
}
