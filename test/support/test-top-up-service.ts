/** Top-ups around a real chain and a real store, with a facilitator that can be made to fail at each step. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { chainsOf } from "../../src/payments/create-top-ups.ts";
import { BroadcastQueue } from "../../src/payments/facilitator/broadcast-queue.ts";
import { LocalFacilitator } from "../../src/payments/facilitator/local-facilitator.ts";
import { type Facilitator, FacilitatorUnavailable, type SignedPayment } from "../../src/payments/facilitator/port.ts";
import { RemoteFacilitator } from "../../src/payments/facilitator/remote-facilitator.ts";
import type { TopUpOutcome } from "../../src/payments/port.ts";
import type { TopUpRows } from "../../src/payments/reconcile.ts";
import { TopUps, type TopUpsDeps } from "../../src/payments/top-ups.ts";
import { type AdminOperation, runOperation } from "../../src/store/admin/operations.ts";
import type { AdminStore } from "../../src/store/admin.ts";
import type { StoreFolder } from "../../src/store/testing/store-folder.ts";
import { systemClock, systemTimers } from "../../src/telemetry/clock.ts";
import { silentLog } from "../../src/telemetry/log.ts";
import { testConfig } from "./running-gateway.ts";
import { BASE, type UsdcChain } from "./usdc-chain.ts";

/** Where a facilitator fails: without an answer to verify, to settle before or after it has sent; or the server is killed. */
export type Fault = "verify" | "before-broadcast" | "after-broadcast" | "killed-after-broadcast";
export type FacilitatorKind = "in the server" | "over HTTP";

export interface TestTopUpOptions {
	readonly chain: Pick<UsdcChain, "url"> & Partial<UsdcChain>;
	readonly books: Pick<StoreFolder, "dir" | "admin">;
	readonly kind?: FacilitatorKind;
	/** The node of this service, if several share one store. */
	readonly node?: string;
	readonly payTo?: string;
	readonly key?: string;
	readonly x402?: object;
	readonly facilitatorMs?: number;
	readonly store?: TopUpsDeps["store"];
}

export class TestTopUpService {
	readonly payTo: string;
	readonly topUps: TopUps;
	readonly admin: AdminStore;
	/** What the facilitator does wrong from now on. */
	fault: Fault | null = null;
	/** Why the facilitator refuses every payment from now on; null: it decides itself. */
	refusal: string | null = null;
	/** Settlements that reached the facilitator. */
	settled = 0;
	readonly #server: Server | null;

	private constructor(payTo: string, admin: AdminStore, server: Server | null, topUps: (service: TestTopUpService) => TopUps) {
		this.payTo = payTo;
		this.admin = admin;
		this.#server = server;
		this.topUps = topUps(this);
	}

	static async open(options: TestTopUpOptions): Promise<TestTopUpService> {
		const { chain, books, kind = "in the server", node = "node_a", facilitatorMs = 20_000 } = options;
		const payTo = options.payTo ?? privateKeyToAccount(generatePrivateKey()).address;
		const key = options.key ?? (await chain.feePayer?.())?.key ?? generatePrivateKey();
		const admin = books.admin();
		const store = options.store ?? {
			node: { id: node, epoch: 1 },
			shared: admin.shared,
			admin: (<Name extends AdminOperation>(name: Name, input: never) =>
				runOperation(admin, name, input)) as TopUpsDeps["store"]["admin"],
		};
		const config = testConfig({ x402: { payTo, rpcUrl: chain.url, sweepEveryMs: 86_400_000, ...options.x402 } }, books.dir).x402;
		const clocks = { clock: systemClock, timers: systemTimers };
		const local = new LocalFacilitator({
			key,
			nodes: new Map([[BASE.id, { chainId: BASE.chainId, rpcUrl: chain.url }]]),
			rpcTimeoutMs: 10_000,
			confirmationTimeoutMs: Math.ceil(facilitatorMs * 0.8),
			eip6492Factories: config.eip6492Factories,
			broadcasts: new BroadcastQueue({ store, ...clocks }),
		});
		const server = kind === "over HTTP" ? await serve(local) : null;
		const facilitator = server === null ? local : remote(server, facilitatorMs);
		const chains = new Map(chainsOf(config, systemTimers).map((token) => [token.network.id, token]));
		const parts = { config, facilitatorMs, store, chains, feePayer: null, ...clocks, log: silentLog };
		return new TestTopUpService(
			payTo,
			admin,
			server,
			(service) => new TopUps({ ...parts, facilitator: faulty(facilitator, service) }),
		);
	}

	topUp(header: string): Promise<TopUpOutcome> {
		return this.topUps.topUp(header);
	}

	/** Base units that the books hold of top-ups to this receiver. */
	async credited(): Promise<number> {
		const { total } = await this.admin.db
			.selectFrom("top_ups")
			.innerJoin("credits", "credits.movement_id", "top_ups.movement_id")
			.select(({ fn }) => fn.sum<string | number | bigint>("credits.amount").as("total"))
			.where("top_ups.pay_to", "=", this.payTo.toLowerCase())
			.executeTakeFirstOrThrow();
		return Number(total ?? 0) / 1_000;
	}

	async stop(): Promise<void> {
		await this.topUps.stop();
		this.#server?.closeAllConnections();
		this.#server?.close();
	}
}

/** Payments as the operator's command reads them. */
export function topUpRows(admin: AdminStore): TopUpRows {
	return {
		list: (page) => runOperation(admin, "listTopUps", page),
		find: (key) => runOperation(admin, "findTopUp", key),
	};
}

function remote(server: Server, timeoutMs: number): Facilitator {
	const { port } = server.address() as AddressInfo;
	return new RemoteFacilitator({ url: `http://127.0.0.1:${port}`, headers: {}, timeoutMs, timers: systemTimers });
}

function faulty(facilitator: Facilitator, service: TestTopUpService): Facilitator {
	const fail = (): never => {
		throw new FacilitatorUnavailable("the test said so");
	};
	return {
		name: facilitator.name,
		async verify(payment) {
			if (service.refusal !== null) return { valid: false, reason: service.refusal };
			return service.fault === "verify" ? fail() : facilitator.verify(payment);
		},
		async settle(payment, onBroadcast) {
			service.settled++;
			if (service.refusal !== null) return { success: false, transaction: null, reason: service.refusal };
			if (service.fault === "before-broadcast") return fail();
			const settled = await facilitator.settle(payment, onBroadcast);
			if (service.fault === "killed-after-broadcast") process.kill(process.pid, "SIGKILL");
			return service.fault === "after-broadcast" ? fail() : settled;
		},
	};
}

/** The wire of a facilitator, around the one of the server. */
async function serve(facilitator: Facilitator): Promise<Server> {
	const server = createServer(async (request, response) => {
		const chunks: Uint8Array[] = [];
		for await (const chunk of request) chunks.push(chunk);
		const { paymentPayload, paymentRequirements } = JSON.parse(Buffer.concat(chunks).toString());
		const { authorization, signature } = paymentPayload.payload;
		const signed = { kind: "authorization", authorization, signature } as const;
		const payment: SignedPayment = { network: BASE, payTo: paymentRequirements.payTo, signed };
		const { from: payer } = authorization;
		try {
			const answer =
				request.url === "/verify"
					? await facilitator
							.verify(payment)
							.then(({ valid, reason }) => ({ isValid: valid, ...(valid ? {} : { invalidReason: reason }), payer }))
					: await facilitator
							.settle(payment, async () => {})
							.then(({ success, transaction, reason }) => ({
								success,
								errorReason: reason ?? undefined,
								transaction: transaction ?? "",
								network: BASE.id,
								payer,
							}));
			response.setHeader("content-type", "application/json").end(JSON.stringify(answer));
		} catch (error) {
			response.writeHead(502).end(String(error));
		}
	});
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	return server;
}
