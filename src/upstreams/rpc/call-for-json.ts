import type { TimerClock } from "../../telemetry/timer-clock.ts";
import { utf8Text } from "../../wire/index.ts";
import type { Fetch } from "../fetch.ts";
import { sendItem } from "./exchange.ts";
import type { RpcMember } from "./member.ts";

/** Time limit of our own calls, in milliseconds. */
const OWN_QUESTION_MS = 5_000;

export interface JsonCall {
	readonly fetch: Fetch;
	readonly clock: TimerClock;
	readonly member: RpcMember;
	readonly method: string;
	readonly params: readonly unknown[];
	/** True: use a new connection. */
	readonly fresh: boolean;
}

/** Returns the parsed result of our own call. Throws if none arrives in time. */
export async function callForJson({ fetch, clock, member, method, params, fresh }: JsonCall): Promise<unknown> {
	const controller = new AbortController();
	const cancelTimer = clock.after(OWN_QUESTION_MS, () => controller.abort());
	try {
		const requestId = crypto.randomUUID().replaceAll("-", "");
		const exchange = { fetch, member, requestId, signal: controller.signal, fresh };
		const answer = await sendItem(exchange, { method: { name: method }, params: Buffer.from(JSON.stringify(params)) });
		if (answer.kind !== "result" || !("value" in answer)) throw new Error(`${method} has no result`);
		return JSON.parse(utf8Text(answer.value, 0, answer.value.length));
	} finally {
		cancelTimer();
		controller.abort();
	}
}

/** Returns the number of a hex text or of a plain number; null for anything else. */
export function blockNumberOf(value: unknown): number | null {
	const number = typeof value === "string" && /^0x[0-9a-f]{1,13}$/i.test(value) ? Number(value) : value;
	return typeof number === "number" && Number.isSafeInteger(number) && number >= 0 ? number : null;
}
