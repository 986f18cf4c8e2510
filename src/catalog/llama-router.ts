/** Context lengths of llama.cpp in router mode, where one server has several models and loads them when they are asked for. */
import { isRecord } from "../schema/is-record.ts";

/** States in which `/props` tells of a model without loading it. */
const RUNNING: ReadonlySet<unknown> = new Set(["loaded", "sleeping"]);

const CONTEXT_FLAGS: ReadonlySet<unknown> = new Set(["-c", "-ctx", "--ctx-size"]);
const SLOT_FLAGS: ReadonlySet<unknown> = new Set(["-np", "--parallel"]);
const SHARED_FLAGS: ReadonlySet<unknown> = new Set(["-kvu", "--kv-unified"]);

/** What a router's list says of a model. */
export interface RoutedModel {
	/** It runs: its own `/props` tells its context. */
	readonly isRunning: boolean;
	/** What it runs with, or would run with, as its list or its command line tells it; null: not told. */
	readonly contextTokens: number | null;
}

/** The models of a router's list, by id; null where the list is of a server with one model. */
export function routedModels(list: unknown): ReadonlyMap<string, RoutedModel> | null {
	const items = isRecord(list) && Array.isArray(list.data) ? (list.data as unknown[]).filter(isRecord) : [];
	const routed = items.flatMap(({ id, status, meta }): (readonly [string, RoutedModel])[] => {
		if (typeof id !== "string" || !isRecord(status)) return [];
		const running = isRecord(meta) ? count(meta.n_ctx) : null;
		const isRunning = RUNNING.has(status.value);
		return [[id, { isRunning, contextTokens: running ?? contextOf(status.args) }]];
	});
	return routed.length === 0 ? null : new Map(routed);
}

/** The address that tells of one model. A router of an older version has no `autoload`: only running models are asked for. */
export function propsPath(id: string): string {
	return `/props?model=${encodeURIComponent(id)}&autoload=false`;
}

/** `n_ctx` of what `/props` answers, which is that of one slot. */
export function contextOfProps(props: unknown): number | null {
	const settings = isRecord(props) ? props.default_generation_settings : undefined;
	return isRecord(settings) ? count(settings.n_ctx) : null;
}

/** Slots share the context that the command line names, but for a unified cache, of which each may have all. */
function contextOf(args: unknown): number | null {
	if (!Array.isArray(args)) return null;
	const list = args as unknown[];
	const numberOf = (flags: ReadonlySet<unknown>): number | null => {
		const at = list.findLastIndex((arg) => flags.has(arg));
		return at < 0 ? null : count(Number(list[at + 1]));
	};
	const context = numberOf(CONTEXT_FLAGS);
	const slots = list.some((arg) => SHARED_FLAGS.has(arg)) ? 1 : (numberOf(SLOT_FLAGS) ?? 1);
	return context === null ? null : count(Math.floor(context / slots));
}

function count(value: unknown): number | null {
	return typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : null;
}
