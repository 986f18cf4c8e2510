import { isRecord } from "../../schema/is-record.ts";

/** Maximum number of remembered keys; the oldest are removed first. */
const MAX_KEYS = 10_000;
/** Members of a report that name keys for sealed conversations. */
const KEY_MEMBERS = ["signing_key", "signing_public_key"] as const;
/** Members that hold the reports of several machines. */
const LIST_MEMBERS = ["model_attestations", "all_attestations"] as const;

type Fields = Readonly<Record<string, unknown>>;

/** Maps each reported key to the upstream, and its model, that reported it last. */
export class KnownKeys {
	readonly #holders = new Map<string, string>();

	/** Records every key of a report. */
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

/** Returns a key's coordinates. Keys are written with 0x, with the byte 04 before the coordinates, or with neither. */
function coordinates(key: string): string {
	return key
		.toLowerCase()
		.replace(/^0x/, "")
		.replace(/^04(?=[0-9a-f]{128}$)/, "");
}
