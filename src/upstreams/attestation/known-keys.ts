import { isRecord } from "../../schema/is-record.ts";

/** Keys that are remembered at most; the oldest goes first. */
const MAX_KEYS = 10_000;
/** Members under which reports name keys that conversations are sealed for. */
const KEY_MEMBERS = ["signing_key", "signing_public_key"] as const;
/** Members under which reports of several machines stand. */
const LIST_MEMBERS = ["model_attestations", "all_attestations"] as const;

type Fields = Readonly<Record<string, unknown>>;

/** Which upstream, with which model of its own, showed a key in a report. */
export class KnownKeys {
	readonly #holders = new Map<string, string>();

	/** Notes every key of a report. */
	learn(report: Fields, upstream: string, model: string): void {
		for (const key of keysOf(report)) {
			this.#holders.delete(key);
			this.#holders.set(key, `${upstream}\n${model}`);
		}
		for (const key of this.#holders.keys()) {
			if (this.#holders.size <= MAX_KEYS) break;
			this.#holders.delete(key);
		}
	}

	isHeldBy(key: string, upstream: string, model: string): boolean {
		return this.#holders.get(coordinates(key)) === `${upstream}\n${model}`;
	}
}

function keysOf(report: Fields): string[] {
	const ownKeys = KEY_MEMBERS.flatMap((name) => (typeof report[name] === "string" ? [coordinates(report[name])] : []));
	const listed = LIST_MEMBERS.flatMap((name) => (Array.isArray(report[name]) ? report[name] : []));
	const listedKeys = listed.flatMap((one: unknown) =>
		isRecord(one) ? keysOf({ ...one, model_attestations: [], all_attestations: [] }) : [],
	);
	return [...ownKeys, ...listedKeys];
}

/** Keys go with 0x, with the byte 04 in front of their coordinates, or with neither. */
function coordinates(key: string): string {
	return key
		.toLowerCase()
		.replace(/^0x/, "")
		.replace(/^04(?=[0-9a-f]{128}$)/, "");
}
