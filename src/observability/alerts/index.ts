/**
 * Alerts to a webhook (docs/observing.md): looks at the rules of `alerts` now and then, tells of what begins to stand and
 * of what has ended. Of several nodes one tells, since what stands is in the store; a notice is told until it is taken.
 */

import type { Config } from "../../config/index.ts";
import type { Journal } from "../../journal/records.ts";
import { NANO_PER_USD } from "../../ledger/nano.ts";
import type { StorePort } from "../../store/port.ts";
import { StoreReader } from "../../store/reader/store-reader.ts";
import type { Clock, Timers } from "../../telemetry/clock.ts";
import type { Log } from "../../telemetry/log.ts";
import type { UpstreamStatus } from "../../upstreams/index.ts";
import type { RpcNetworkStatus } from "../../upstreams/rpc/upstreams.ts";
import { alertName, alertNameParts, type Notice } from "./notice.ts";
import { type AlertInputs, evaluateRules } from "./rules.ts";
import { Webhook, type WebhookOptions } from "./webhook.ts";

export interface AlertsDeps {
	readonly config: () => Pick<Config, "alerts">;
	readonly store: Pick<StorePort, "admin" | "node">;
	/** Where the books are read beside the server: a data folder, or the address of a database. */
	readonly place: string;
	readonly journal: Pick<Journal, "workRefusal">;
	readonly upstreams: () => readonly UpstreamStatus[];
	readonly networks: () => readonly RpcNetworkStatus[];
	readonly clock: Clock;
	readonly timers: Timers;
	readonly log: Log;
	readonly waitsMs?: WebhookOptions["waitsMs"];
}

const NOTHING_ASKED = { low: [], near: [], spentToday: null };
const FIRST_LOOK_MS = 5_000;
/** An alert whose node has missed so many looks is another's. */
const STALE_LOOKS = 4;

export class Alerts {
	readonly #deps: AlertsDeps;
	readonly #webhook: Webhook;
	readonly #reader: StoreReader;
	/** By name: what was said of it when it was last seen. */
	#texts = new Map<string, string>();
	#cancel: () => void;
	#booksAtMs = Number.NEGATIVE_INFINITY;
	#books: AlertInputs["books"] = null;
	#mine = 0;
	/** What was told while the store was away. */
	#alone: { readonly name: string; readonly sinceMs: number } | null = null;
	#stopped = false;

	constructor(deps: AlertsDeps) {
		this.#deps = deps;
		const { config, clock, timers, log, waitsMs, place } = deps;
		this.#reader = new StoreReader({ place, timers });
		this.#webhook = new Webhook({
			url: () => config().alerts.url,
			secret: () => config().alerts.secret,
			wallMs: () => clock.wallMs(),
			timers,
			log,
			onDelivered: (notice) => this.#taken(notice),
			...(waitsMs === undefined ? {} : { waitsMs }),
		});
		this.#cancel = timers.after(Math.min(FIRST_LOOK_MS, config().alerts.everyMs), () => void this.#round());
	}

	/** For /metrics. */
	counts() {
		const { sent, failed, waiting } = this.#webhook;
		return { firing: this.#mine, waiting, sent, failed };
	}

	stop(): void {
		this.#stopped = true;
		this.#cancel();
		this.#webhook.close();
		this.#reader.close();
	}

	async #round(): Promise<void> {
		const { config, timers, log } = this.#deps;
		const { url, secret, everyMs } = config().alerts;
		try {
			if (url !== undefined && secret !== undefined) await this.#look();
		} catch (error) {
			if (!this.#stopped)
				log.warn({ cause: (error as Error).message }, "the rules of alerts could not be looked at; they are again soon");
		}
		if (!this.#stopped) this.#cancel = timers.after(everyMs, () => void this.#round());
	}

	async #look(): Promise<void> {
		const { config, store, clock } = this.#deps;
		const { alerts } = config();
		const owner = store.node.id;
		const seen = await this.#see(alerts);
		const { rules, standing } = evaluateRules(alerts, seen);
		this.#texts = new Map(standing.map((each) => [alertName(each), each.text]));
		const noted = await store
			.admin("lookAtAlerts", {
				owner,
				// What was told without the store is not told again with it.
				standing: [...this.#texts.keys()].filter((name) => this.#alone === null || alertNameParts(name).rule !== "journal"),
				rules,
				nowMs: clock.wallMs(),
				staleMs: alerts.everyMs * STALE_LOOKS,
			})
			.catch((error: unknown) => {
				this.#tellAlone();
				throw error;
			});
		this.#endAlone();
		const { raised, ended, mine } = noted;
		this.#mine = mine;
		if (this.#stopped) return;
		for (const { name, sinceMs } of raised) this.#tell("raised", name, sinceMs, this.#texts.get(name) ?? "It stands");
		for (const { name, sinceMs } of ended) this.#tell("ended", name, sinceMs, "It has ended");
	}

	/** The store is away, and the node takes no work: nobody else can know of it. */
	#tellAlone(): void {
		const name = [...this.#texts.keys()].find((each) => alertNameParts(each).rule === "journal");
		if (name === undefined || this.#alone !== null) return;
		this.#alone = { name, sinceMs: this.#deps.clock.wallMs() };
		this.#tell("raised", name, this.#alone.sinceMs, this.#texts.get(name) ?? "");
	}

	#endAlone(): void {
		if (this.#alone === null || this.#texts.has(this.#alone.name)) return;
		this.#tell("ended", this.#alone.name, this.#alone.sinceMs, "It has ended");
		this.#alone = null;
	}

	async #see(alerts: Config["alerts"]): Promise<AlertInputs> {
		const { store, journal, upstreams, networks, clock } = this.#deps;
		const { balanceBelowUsd, keyLimitShare, dailySpendUsd } = alerts;
		const question = {
			balanceBelow: balanceBelowUsd === undefined ? null : Math.round(balanceBelowUsd * NANO_PER_USD),
			keyShare: keyLimitShare ?? null,
			spend: dailySpendUsd !== undefined,
		};
		const asked = question.balanceBelow !== null || question.keyShare !== null || question.spend;
		// Where the store cannot be read the rest is looked at all the same.
		const standings = asked ? await this.#reader.read("standings", question).catch(() => null) : NOTHING_ASKED;
		return {
			node: store.node.id,
			day: new Date(clock.wallMs()).toISOString().slice(0, 10),
			upstreams: upstreams(),
			networks: networks(),
			workRefusal: journal.workRefusal(),
			standings,
			books: await this.#proveBooks(alerts.booksEveryMs),
		};
	}

	/** The last proof; made anew where it is old. */
	async #proveBooks(everyMs: number): Promise<AlertInputs["books"]> {
		const { clock } = this.#deps;
		if (everyMs === 0) return null;
		if (clock.monotonicMs() - this.#booksAtMs < everyMs) return this.#books;
		this.#booksAtMs = clock.monotonicMs();
		const report = await this.#reader.read("audit", null).catch(() => null);
		if (report !== null) this.#books = { ok: report.ok, findings: report.findings.length };
		return this.#books;
	}

	#tell(state: Notice["state"], name: string, sinceMs: number, text: string): void {
		this.#webhook.send({
			id: `${state}-${sinceMs}-${Buffer.from(name).toString("base64url")}`,
			state,
			...alertNameParts(name),
			text,
			since: new Date(sinceMs).toISOString(),
			node: this.#deps.store.node.id,
		});
	}

	async #taken({ state, rule, subject }: Notice): Promise<void> {
		if (state !== "raised") return;
		try {
			await this.#deps.store.admin("alertTold", { name: alertName({ rule, subject }) });
		} catch (error) {
			// It is told once more, under the same id.
			this.#deps.log.warn({ cause: (error as Error).message }, "that an alert was told could not be noted");
		}
	}
}
