import type { Timers } from "../../telemetry/clock.ts";
import type { Log } from "../../telemetry/log.ts";
import { type Notice, signatureOf } from "./notice.ts";

export interface WebhookOptions {
	readonly url: () => string | undefined;
	readonly secret: () => string | undefined;
	/** Unix milliseconds. */
	readonly wallMs: () => number;
	readonly timers: Timers;
	readonly log: Log;
	/** Called when the webhook has accepted the notice. Until it resolves, the same notice is not queued again. */
	readonly onDelivered: (notice: Notice) => Promise<void>;
	/** Waits between attempts; default: up to five minutes, eight attempts in all. */
	readonly waitsMs?: readonly number[];
}

const MAX_WAITING = 200;
const SEND_MS = 10_000;
const WAITS_MS = [1_000, 5_000, 15_000, 60_000, 120_000, 300_000, 300_000] as const;

/** Posts signed notices one after the other. A notice that the receiver rejects is retried with growing waits. */
export class Webhook {
	sent = 0;
	failed = 0;
	readonly #options: WebhookOptions;
	readonly #queue: Notice[] = [];
	#cancelWait: (() => void) | null = null;
	#sending: AbortController | null = null;
	#busy = false;
	#tries = 0;
	#closed = false;

	constructor(options: WebhookOptions) {
		this.#options = options;
	}

	get waiting(): number {
		return this.#queue.length;
	}

	/** Queues a notice unless the same one is waiting. Returns false if the queue is full: the caller tries again later. */
	send(notice: Notice): boolean {
		if (this.#closed) return false;
		if (this.#queue.some(({ id }) => id === notice.id)) return true;
		if (this.#queue.length >= MAX_WAITING) return false;
		this.#queue.push(notice);
		if (!this.#busy) void this.#sendNext();
		return true;
	}

	close(): void {
		this.#closed = true;
		this.#cancelWait?.();
		this.#sending?.abort();
		this.#queue.length = 0;
	}

	async #sendNext(): Promise<void> {
		const { waitsMs = WAITS_MS, timers, log, onDelivered } = this.#options;
		const notice = this.#queue[0];
		if (notice === undefined || this.#closed) return;
		this.#busy = true;
		const fault = await this.#post(notice);
		if (fault === null) await onDelivered(notice);
		this.#busy = false;
		if (this.#closed) return;
		const waitMs = waitsMs[this.#tries];
		if (fault !== null && waitMs !== undefined) {
			this.#tries++;
			this.#busy = true;
			this.#cancelWait = timers.after(waitMs, () => {
				this.#busy = false;
				void this.#sendNext();
			});
			return;
		}
		this.#tries = 0;
		this.#queue.shift();
		if (fault === null) this.sent++;
		else {
			this.failed++;
			log.error({ rule: notice.rule, subject: notice.subject, cause: fault }, "an alert could not be delivered");
		}
		void this.#sendNext();
	}

	/** Returns null if the receiver accepted the notice, otherwise the reason. */
	async #post(notice: Notice): Promise<string | null> {
		const { url, secret, wallMs } = this.#options;
		const [address, key] = [url(), secret()];
		if (address === undefined || key === undefined) return "alerts.url or alerts.secret is gone";
		const body = JSON.stringify(notice);
		const atSeconds = Math.floor(wallMs() / 1_000);
		const controller = new AbortController();
		this.#sending = controller;
		const late = setTimeout(() => controller.abort(new Error("no answer in time")), SEND_MS);
		try {
			const response = await fetch(address, {
				method: "POST",
				headers: {
					"content-type": "application/json",
					"user-agent": "turnpike",
					"x-service-alert": notice.id,
					"x-service-timestamp": String(atSeconds),
					"x-service-signature": signatureOf(key, atSeconds, body),
				},
				body,
				redirect: "manual",
				signal: controller.signal,
			});
			await response.body?.cancel();
			return response.ok ? null : `status ${response.status}`;
		} catch (error) {
			return error instanceof Error ? error.message : String(error);
		} finally {
			clearTimeout(late);
			this.#sending = null;
		}
	}
}
