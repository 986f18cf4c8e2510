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
	/** Called when the webhook has taken it. Until it resolves the same notice is not queued again. */
	readonly onDelivered: (notice: Notice) => Promise<void>;
	/** Waits between tries; default: up to five minutes, eight tries in all. */
	readonly waitsMs?: readonly number[];
}

const MAX_WAITING = 200;
const SEND_MS = 10_000;
const WAITS_MS = [1_000, 5_000, 15_000, 60_000, 120_000, 300_000, 300_000] as const;

/** Posts notices one after the other, each signed; what the other side does not take is tried again with growing waits. */
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

	/** Queues it, unless the same one waits. False where too many wait: it is to be told another time. */
	send(notice: Notice): boolean {
		if (this.#closed) return false;
		if (this.#queue.some(({ id }) => id === notice.id)) return true;
		if (this.#queue.length >= MAX_WAITING) return false;
		this.#queue.push(notice);
		if (!this.#busy) void this.#next();
		return true;
	}

	close(): void {
		this.#closed = true;
		this.#cancelWait?.();
		this.#sending?.abort();
		this.#queue.length = 0;
	}

	async #next(): Promise<void> {
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
				void this.#next();
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
		void this.#next();
	}

	/** null where it was taken; else why not. */
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
