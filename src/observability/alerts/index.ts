/**
 * Sends alerts to a webhook (docs/observing.md). It evaluates the rules of `alerts` periodically, and reports alerts
 * that fire and that clear. The store holds the alerts that fire, so only one of several nodes reports. A notice is
 * sent until it is accepted.
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
	/** The data folder or database address at which the store is read while the server runs. */
	readonly place: string;
	readonly journal: Pick<Journal, "workRefusal">;
	readonly upstreams: () => readonly UpstreamStatus[];
	readonly networks: () => readonly RpcNetworkStatus[];
	readonly clock: Clock;
	readonly timers: Timers;
	readonly log: Log;
	readonly waitsMs?: WebhookOptions["waitsMs"];
}

const NO_STANDINGS = { low: [], near: [], spentToday: null };
const FIRST_EVALUATION_MS = 5_000;
/** If the node of an alert misses this many evaluations, another node takes the alert over. */
const STALE_EVALUATIONS = 4;

export class Alerts {
	readonly #deps: AlertsDeps;
	readonly #webhook: Webhook;
	readonly #reader: StoreReader;
	/** The last reported text of each alert, by name. */
	#texts = new Map<string, string>();
	#cancel: () => void;
	#lastAuditAtMs = Number.NEGATIVE_INFINITY;
	#lastAudit: AlertInputs["audit"] = null;
	#firingCount = 0;
	/** The alert that this node reported while the store was unreachable. */
	#reportedWithoutStore: { readonly name: string; readonly sinceMs: number } | null = null;
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
			onDelivered: (notice) => this.#recordDelivery(notice),
			...(waitsMs === undefined ? {} : { waitsMs }),
		});
		this.#cancel = timers.after(Math.min(FIRST_EVALUATION_MS, config().alerts.everyMs), () => void this.#runOnce());
	}

	/** Returns the counts for /metrics. */
	counts() {
		const { sent, failed, waiting } = this.#webhook;
		return { firing: this.#firingCount, waiting, sent, failed };
	}

	stop(): void {
		this.#stopped = true;
		this.#cancel();
		this.#webhook.close();
		this.#reader.close();
	}

	async #runOnce(): Promise<void> {
		const { config, timers, log } = this.#deps;
		const { url, secret, everyMs } = config().alerts;
		try {
			if (url !== undefined && secret !== undefined) await this.#evaluate();
		} catch (error) {
			if (!this.#stopped)
				log.warn({ cause: (error as Error).message }, "the alert rules could not be checked; they are checked again soon");
		}
		if (!this.#stopped) this.#cancel = timers.after(everyMs, () => void this.#runOnce());
	}

	async #evaluate(): Promise<void> {
		const { config, store, clock } = this.#deps;
		const { alerts } = config();
		const owner = store.node.id;
		const inputs = await this.#readInputs(alerts);
		const { rules, standing } = evaluateRules(alerts, inputs);
		this.#texts = new Map(standing.map((alert) => [alertName(alert), alert.text]));
		const changes = await store
			.admin("lookAtAlerts", {
				owner,
				// An alert that was reported without the store is not reported again with it.
				standing: [...this.#texts.keys()].filter(
					(name) => this.#reportedWithoutStore === null || alertNameParts(name).rule !== "journal",
				),
				rules,
				nowMs: clock.wallMs(),
				staleMs: alerts.everyMs * STALE_EVALUATIONS,
			})
			.catch((error: unknown) => {
				this.#sendWithoutStore();
				throw error;
			});
		this.#clearWithoutStore();
		const { raised, ended, mine } = changes;
		this.#firingCount = mine;
		if (this.#stopped) return;
		for (const { name, sinceMs } of raised) this.#send("raised", name, sinceMs, this.#texts.get(name) ?? "The alert is firing");
		for (const { name, sinceMs } of ended) this.#send("ended", name, sinceMs, "The alert has cleared");
	}

	/** Reports the journal alert without the store: this node takes no work, and no other node can know of it. */
	#sendWithoutStore(): void {
		const name = [...this.#texts.keys()].find((alert) => alertNameParts(alert).rule === "journal");
		if (name === undefined || this.#reportedWithoutStore !== null) return;
		this.#reportedWithoutStore = { name, sinceMs: this.#deps.clock.wallMs() };
		this.#send("raised", name, this.#reportedWithoutStore.sinceMs, this.#texts.get(name) ?? "");
	}

	#clearWithoutStore(): void {
		if (this.#reportedWithoutStore === null || this.#texts.has(this.#reportedWithoutStore.name)) return;
		this.#send("ended", this.#reportedWithoutStore.name, this.#reportedWithoutStore.sinceMs, "The alert has cleared");
		this.#reportedWithoutStore = null;
	}

	async #readInputs(alerts: Config["alerts"]): Promise<AlertInputs> {
		const { store, journal, upstreams, networks, clock } = this.#deps;
		const { balanceBelowUsd, keyLimitShare, dailySpendUsd } = alerts;
		const question = {
			balanceBelow: balanceBelowUsd === undefined ? null : Math.round(balanceBelowUsd * NANO_PER_USD),
			keyShare: keyLimitShare ?? null,
			spend: dailySpendUsd !== undefined,
		};
		const needsStandings = question.balanceBelow !== null || question.keyShare !== null || question.spend;
		// If the store cannot be read, the other rules are still evaluated.
		const standings = needsStandings ? await this.#reader.read("standings", question).catch(() => null) : NO_STANDINGS;
		return {
			node: store.node.id,
			day: new Date(clock.wallMs()).toISOString().slice(0, 10),
			upstreams: upstreams(),
			networks: networks(),
			workRefusal: journal.workRefusal(),
			standings,
			audit: await this.#auditIfDue(alerts.booksEveryMs),
		};
	}

	/** Returns the last audit result, and runs a new audit if it is too old. */
	async #auditIfDue(everyMs: number): Promise<AlertInputs["audit"]> {
		const { clock } = this.#deps;
		if (everyMs === 0) return null;
		if (clock.monotonicMs() - this.#lastAuditAtMs < everyMs) return this.#lastAudit;
		this.#lastAuditAtMs = clock.monotonicMs();
		const report = await this.#reader.read("audit", null).catch(() => null);
		if (report !== null) this.#lastAudit = { ok: report.ok, findings: report.findings.length };
		return this.#lastAudit;
	}

	#send(state: Notice["state"], name: string, sinceMs: number, text: string): void {
		this.#webhook.send({
			id: `${state}-${sinceMs}-${Buffer.from(name).toString("base64url")}`,
			state,
			...alertNameParts(name),
			text,
			since: new Date(sinceMs).toISOString(),
			node: this.#deps.store.node.id,
		});
	}

	async #recordDelivery({ state, rule, subject }: Notice): Promise<void> {
		if (state !== "raised") return;
		try {
			await this.#deps.store.admin("alertDelivered", { name: alertName({ rule, subject }) });
		} catch (error) {
			// The notice is sent once more, with the same id.
			this.#deps.log.warn({ cause: (error as Error).message }, "the delivery of an alert could not be recorded");
		}
	}
}
