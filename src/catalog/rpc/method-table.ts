import { CatalogError } from "../catalog-error.ts";
import type { RpcMethodData, RpcMethodFile } from "./data-schema.ts";
import type { RpcCacheRule, RpcMethod, RpcRefusal, RpcResolution } from "./types.ts";

/** The pattern of method names. No node has a method of another spelling, even with a known prefix. */
const METHOD_NAME = /^[A-Za-z0-9_]{1,128}$/;

const UNLISTED: RpcResolution = {
	refusal: { reason: "not_allowlisted", text: "is not among the methods that are forwarded", hint: null },
};

/** Looks methods up by name. */
export class MethodTable {
	/** Blocked names and methods; each name has one meaning. */
	readonly #exact = new Map<string, RpcResolution>();
	readonly #blockedPrefixes: [prefix: string, resolution: RpcResolution][] = [];
	readonly #blockedSuffixes: [suffix: string, resolution: RpcResolution][] = [];
	/** Sorted by length, longest first. */
	readonly #prefixes: [prefix: string, make: (name: string) => RpcMethod][];

	/** @throws {CatalogError} if a name has two meanings */
	constructor(file: string, data: RpcMethodFile) {
		for (const [index, blocked] of data.blocked.entries()) {
			const refusal: RpcRefusal = { reason: blocked.reason, text: blocked.text, hint: blocked.hint ?? null };
			for (const name of blocked.names ?? []) this.#add(file, `blocked[${index}]`, name, { refusal });
			for (const prefix of blocked.prefixes ?? []) this.#blockedPrefixes.push([prefix, { refusal }]);
			for (const suffix of blocked.suffixes ?? []) this.#blockedSuffixes.push([suffix, { refusal }]);
		}
		for (const [index, method] of data.methods.entries())
			this.#add(file, `methods[${index}]`, method.name, { method: methodOf(method, method.name, data.tiers) });
		this.#prefixes = data.prefixes
			.map((entry): [string, (name: string) => RpcMethod] => [entry.name, (name) => methodOf(entry, name, data.tiers)])
			.sort(([a], [b]) => b.length - a.length);
	}

	/** Returns the first match of: blocked names, methods, blocked prefixes and suffixes, the longest prefix. */
	resolve(name: string): RpcResolution {
		const exact = this.#exact.get(name);
		if (exact !== undefined) return exact;
		if (!METHOD_NAME.test(name)) return UNLISTED;
		for (const [prefix, resolution] of this.#blockedPrefixes) if (name.startsWith(prefix)) return resolution;
		for (const [suffix, resolution] of this.#blockedSuffixes) if (name.endsWith(suffix)) return resolution;
		for (const [prefix, make] of this.#prefixes) if (name.startsWith(prefix) && name !== prefix) return { method: make(name) };
		return UNLISTED;
	}

	#add(file: string, path: string, name: string, resolution: RpcResolution): void {
		if (this.#exact.has(name)) throw new CatalogError(file, path, `"${name}" is there twice`);
		this.#exact.set(name, resolution);
	}
}

function methodOf(data: RpcMethodData, name: string, tiers: RpcMethodFile["tiers"]): RpcMethod {
	return {
		name,
		vm: data.vm,
		multiplier: tiers[data.tier],
		send: data.send ?? null,
		sendHashAt: data.sendHashAt ?? null,
		cache: cacheRule(data),
		blocks: (data.blocks ?? []).map((block) => ({
			position: block.position,
			name: block.name ?? null,
			members: block.members ?? null,
		})),
		slow: data.slow ?? false,
		capability: data.capability ?? null,
		families: data.families ?? null,
	};
}

function cacheRule(data: RpcMethodData): RpcCacheRule {
	switch (data.cache) {
		case "constant":
			return { kind: "constant", maxAgeSeconds: data.maxAgeSeconds ?? null };
		case "by-hash":
			return { kind: "by-hash", blockNumberAt: data.blockNumberAt ?? null };
		default:
			return { kind: data.cache };
	}
}
