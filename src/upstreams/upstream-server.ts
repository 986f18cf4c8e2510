import type { UpstreamConfig } from "../config/schema.ts";
import type { TimerClock } from "../telemetry/timer-clock.ts";
import { callSlots, resizeCallSlots } from "./call-slots.ts";
import { DIALECT_TABLE, type Dialect } from "./chat/dialects.ts";
import type { FetchInit } from "./fetch.ts";
import { Health, type HealthState } from "./health.ts";
import type { Member } from "./health-monitor.ts";
import { PROVIDER_DIALECT } from "./providers/chat/dialect.ts";
import { isProviderUpstream, type ProviderUpstream, providerSecrets } from "./providers/provider-upstream.ts";
import { NO_SECRETS, SecretMask } from "./secret-mask.ts";
import { credentialsIn, headerSecrets, hostsOf } from "./secrets-in.ts";

/** The current address of an upstream, and what all its requests have in common. */
export interface Endpoint {
	/** Up to and including /v1, without a slash at the end. */
	readonly url: string;
	readonly key: string | undefined;
	readonly chatUrl: string;
	readonly textUrl: string;
	readonly init: FetchInit;
	/** Headers of probes; chat requests have them too, and the request id. */
	readonly probeHeaders: Readonly<Record<string, string>>;
	readonly unaryHeaders: Readonly<Record<string, string>>;
	readonly streamHeaders: Readonly<Record<string, string>>;
}

const LOOPBACK = /^https?:\/\/(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::|\/|$)/i;

/**
 * Returns the endpoint at an address.
 * @param headers the configured ones, in lower case; they replace ours
 */
export function endpointAt(address: string, key: string | undefined, headers: Readonly<Record<string, string>>): Endpoint {
	const url = address.replace(/\/+$/, "");
	const known = { ...(key === undefined ? {} : { authorization: `Bearer ${key}` }), "user-agent": "turnpike", ...headers };
	const chatHeaders = (accept: string) => ({
		"content-type": "application/json",
		accept,
		// Answers are read as they arrive: compression costs both sides more than it saves.
		"accept-encoding": "identity",
		...known,
	});
	return {
		url,
		key,
		chatUrl: `${url}/chat/completions`,
		textUrl: `${url}/completions`,
		init: initFor(url),
		probeHeaders: known,
		unaryHeaders: chatHeaders("application/json"),
		streamHeaders: chatHeaders("text/event-stream"),
	};
}

/** Returns fetch options: redirects are not followed, and a proxy of the environment never gets loopback requests. */
export function initFor(url: string): FetchInit {
	return { redirect: "manual", timeout: false, ...(LOOPBACK.test(url) ? { proxy: false as const } : {}) };
}

export type Attestation = NonNullable<UpstreamConfig["attestation"]>;

/** The attestation of the built-in engine and of most such servers. */
const OWN_ATTESTATION: Attestation = {
	report: "attestation/report",
	signature: "signature",
	sealed: true,
	clientKeyHeader: "x-client-pub-key",
	modelKeyHeader: "x-model-pub-key",
	algorithmHeader: "x-signing-algo",
};

/** Time limits of one upstream in milliseconds; undefined: the general limits. */
export type ServerLimits = Pick<UpstreamConfig, "firstByteMs" | "idleMs" | "unaryMs">;

/** One upstream: its address, dialect, health and running calls. */
export interface UpstreamServer extends Member {
	readonly dialect: Dialect;
	/** Set if it is a provider, called through its package. */
	readonly provider: ProviderUpstream | null;
	readonly limits: ServerLimits;
	/** The paths and headers of attestation and sealed conversations; null if the server has none. */
	readonly attestation: Attestation | null;
	/** False for the embedded engine: probes and ejection need a fixed address. */
	readonly ejectable: boolean;
	/** Masks secrets in errors, logs and answers: the key, values of configured headers, passwords in addresses. */
	readonly mask: SecretMask;
	/**
	 * Returns the endpoint. It may wait (the embedded engine starts at first use), and may throw an ApiError of its own.
	 */
	endpoint(): Endpoint | Promise<Endpoint>;
}

/** The state of an upstream on a status page, without its key. */
export interface UpstreamStatus {
	readonly name: string;
	readonly url: string | null;
	readonly state: HealthState;
	readonly running: number;
	readonly maxConcurrent: number | null;
	readonly consecutiveFaults: number;
	/** Number of ejections. */
	readonly ejections: number;
	readonly lastFault: string | null;
	readonly busy: boolean;
	/** Set if it refused our key, credit or quota in the last quarter of an hour. */
	readonly accountRefusal: string | null;
}

/**
 * Returns a configured upstream.
 * @param all secrets of every upstream (`upstreamSecrets`)
 * @param before the same server under the previous settings: its health and load continue
 */
export function configuredServer(
	name: string,
	config: UpstreamConfig,
	all: readonly string[] = [],
	before?: UpstreamServer,
): UpstreamServer {
	const provider = isProviderUpstream(config) ? config : null;
	const maxConcurrent = config.maxConcurrent ?? Number.POSITIVE_INFINITY;
	// A provider's key is sent only by its package, in the header that it expects.
	const endpoint = provider
		? endpointAt(config.url, undefined, {})
		: endpointAt(config.url, config.key, lowerCasedNames(config.headers ?? {}));
	return {
		name,
		dialect: provider ? PROVIDER_DIALECT : DIALECT_TABLE[config.dialect],
		provider,
		limits: config,
		// Its package cannot send the keys of a sealed conversation.
		attestation: provider ? null : (config.attestation ?? null),
		maxConcurrent,
		health: before?.health ?? new Health(),
		failures: config.health.failures,
		load: before === undefined ? callSlots(maxConcurrent) : resizeCallSlots(before.load, maxConcurrent),
		ejectable: true,
		probeEveryMs: config.health.probeEveryMs,
		mask: new SecretMask(upstreamSecrets(config), all, hostsOf([config.url])),
		endpoint: () => endpoint,
	};
}

/** Returns the secrets that an upstream is sent. */
export function upstreamSecrets(config: UpstreamConfig): string[] {
	const { key, headers } = config;
	return [
		...(key === undefined ? [] : [key]),
		...providerSecrets(config),
		...headerSecrets(headers),
		...credentialsIn(config.url),
	];
}

/** Lower-cases header names, so that a configured header replaces ours instead of being sent beside it. */
export function lowerCasedNames(headers: Readonly<Record<string, string>>): Record<string, string> {
	return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

/** Returns our own engine behind a loopback address. */
export function embeddedServer(
	name: string,
	endpoint: () => Promise<Pick<Endpoint, "url" | "key">>,
	dialect: Dialect,
): UpstreamServer {
	return {
		name,
		dialect,
		provider: null,
		limits: {},
		attestation: OWN_ATTESTATION,
		maxConcurrent: Number.POSITIVE_INFINITY,
		health: new Health(),
		failures: Number.POSITIVE_INFINITY,
		load: callSlots(Number.POSITIVE_INFINITY),
		ejectable: false,
		probeEveryMs: 0,
		mask: NO_SECRETS,
		endpoint: async () => {
			const { url, key } = await endpoint();
			return endpointAt(url, key, {});
		},
	};
}

export function upstreamStatus(server: UpstreamServer, url: string | null, clock: TimerClock): UpstreamStatus {
	return {
		name: server.name,
		url,
		state: server.health.state,
		running: server.load.running,
		maxConcurrent: Number.isFinite(server.maxConcurrent) ? server.maxConcurrent : null,
		consecutiveFaults: server.health.faults,
		ejections: server.health.ejections,
		lastFault: server.health.lastFault,
		busy: server.health.isBusy(clock.monotonicMs()),
		accountRefusal: server.health.accountRefusal(clock.monotonicMs()),
	};
}
