/** Checks rules beyond the schema: settings that name each other, and values that are only valid together. */
import { isIP } from "node:net";
import { ConfigError } from "./config-error.ts";
import type { Config, ModelEntry } from "./schema.ts";
import type { SettingPlaces } from "./setting-places.ts";

/**
 * Refuses settings that contradict each other.
 * @throws {ConfigError}
 */
export function checkReferences(config: Config, places: SettingPlaces): void {
	for (const [index, entry] of config.server.trustedProxies.entries()) {
		const [address = "", prefix = "0", ...rest] = entry.split("/");
		const bits = isIP(address) === 6 ? 128 : 32;
		if (isIP(address) === 0 || rest.length > 0 || !/^\d{1,3}$/.test(prefix) || Number(prefix) > bits)
			throw new ConfigError(`${places.of(`server.trustedProxies[${index}]`)}: expected an address or a CIDR range, not ${entry}`);
	}
	checkServer(config, places);
	checkRpc(config, places);
	checkX402(config, places);
	checkStaking(config, places);
	checkModels(config, places);
	const { alerts } = config;
	if (alerts.url !== undefined && alerts.secret === undefined)
		throw new ConfigError(`${places.of("alerts.secret")}: alerts are signed with it; it is needed beside alerts.url`);
}

function checkStaking({ staking }: Config, places: SettingPlaces): void {
	if ((staking.chain.rpcUrl === undefined) !== (staking.contract === undefined))
		throw new ConfigError(`${places.of("staking")}: expected chain.rpcUrl and contract together, or none of them`);
	if (Number(staking.diemPerToken) === 0) throw new ConfigError(`${places.of("staking.diemPerToken")}: expected more than 0`);
}

function checkModels({ upstreams, models, limits }: Config, places: SettingPlaces): void {
	const upstreamNames = [...Object.keys(upstreams), "embedded"];
	const tiers = Object.keys(limits.tiers);
	for (const [id, entry] of Object.entries(models.entries)) {
		checkCost(id, entry, places);
		for (const [index, { upstream, protocol, workflow }] of (entry.upstreams ?? []).entries()) {
			const path = `models.entries.${id}.upstreams[${index}]`;
			if (!upstreamNames.includes(upstream))
				throw new ConfigError(`${places.of(`${path}.upstream`)}: expected one of ${upstreamNames.join(", ")}, not ${upstream}`);
			if (protocol === "comfyui" && workflow === undefined)
				throw new ConfigError(`${places.of(`${path}.workflow`)}: expected a file with protocol comfyui`);
		}
		if (entry.tier !== undefined && !tiers.includes(entry.tier))
			throw new ConfigError(`${places.of(`models.entries.${id}.tier`)}: expected one of ${tiers.join(", ")}`);
	}
}

/** An origin as browsers send it (RFC 6454, 6.1): without a path. */
const ORIGIN = /^(\*|null|[a-z][a-z0-9+.-]*:\/\/[^/\s]+)$/;
/** The runtime checks idle connections every 4 s. */
const IDLE_GRAIN_MS = 5_000;

const COST_OF_TEXT = "input and output";
const COST_OF_VECTORS = "input";
const COST_OF_OTHERS = "each";

/** A text model without a price is sold at its cost, so half a cost would be half a price. */
function checkCost(id: string, { type, cost }: ModelEntry, places: SettingPlaces): void {
	if (cost === undefined) return;
	const expected =
		type === undefined
			? [COST_OF_TEXT, COST_OF_VECTORS, COST_OF_OTHERS]
			: [type === "text" ? COST_OF_TEXT : type === "embedding" ? COST_OF_VECTORS : COST_OF_OTHERS];
	const costMembers = Object.keys(cost).sort().join(" and ");
	if (expected.includes(costMembers)) return;
	const words = `${expected.join(", or ")}${type === undefined ? "" : ` for a model of type ${type}`}`;
	throw new ConfigError(`${places.of(`models.entries.${id}.cost`)}: expected ${words}, not ${costMembers || "nothing"}`);
}

function checkServer({ server, traces, upstreams }: Config, places: SettingPlaces): void {
	const { corsOrigins, idleTimeoutSeconds, uploadSilenceMs } = server;
	for (const [index, origin] of corsOrigins.entries())
		if (!ORIGIN.test(origin))
			throw new ConfigError(
				`${places.of(`server.corsOrigins[${index}]`)}: expected * or an origin like https://app.example.com, not ${origin}`,
			);
	if (idleTimeoutSeconds !== 0 && idleTimeoutSeconds * 1_000 < uploadSilenceMs + IDLE_GRAIN_MS)
		throw new ConfigError(
			`${places.of("server.idleTimeoutSeconds")}: expected 0, or 5 s more than server.uploadSilenceMs, which is ${uploadSilenceMs / 1_000} s`,
		);
	for (const [index, name] of traces.passTo.entries())
		if (!Object.hasOwn(upstreams, name))
			throw new ConfigError(
				`${places.of(`traces.passTo[${index}]`)}: expected one of the upstreams ${Object.keys(upstreams).join(", ") || "(there is none)"}, not ${name}`,
			);
}

function checkRpc({ rpc }: Config, places: SettingPlaces): void {
	const nano = rpc.pricePerCreditUsd * 1e9;
	if (Math.abs(nano - Math.round(nano)) > 1e-6)
		throw new ConfigError(
			`${places.of("rpc.pricePerCreditUsd")}: expected whole billionths of a USD, not ${rpc.pricePerCreditUsd}`,
		);
	for (const [slug, { upstreams }] of Object.entries(rpc.networks)) {
		const names = new Set<string>();
		for (const [index, { name }] of upstreams.entries()) {
			const path = `rpc.networks.${slug}.upstreams[${index}]`;
			if (name !== undefined && names.has(name))
				throw new ConfigError(`${places.of(`${path}.name`)}: expected a name that no other upstream of ${slug} has, not ${name}`);
			if (name !== undefined) names.add(name);
		}
	}
}

function checkX402({ x402 }: Config, places: SettingPlaces): void {
	const { facilitator, minimumTopUpUsd: least, suggestedTopUpUsd: suggested, maximumTopUpUsd: most } = x402;
	if (facilitator.url !== undefined && facilitator.key !== undefined)
		throw new ConfigError(`${places.of("x402.facilitator.key")}: expected a facilitator's url or a key, not both`);
	if (Object.keys(x402.networks).length === 0)
		throw new ConfigError(`${places.of("x402.networks")}: expected one network at least`);
	if (least > suggested || suggested > most)
		throw new ConfigError(`${places.of("x402")}: expected minimumTopUpUsd, suggestedTopUpUsd, maximumTopUpUsd in rising order`);
}
