/**
 * Attestations and signatures from servers in enclaves (docs/sealed-chat.md). An answer is passed on unchanged; members
 * that it lacks are added, and none is replaced. A report with another nonce is rejected.
 * The proofs are not verified here: callers verify them. Logs contain names and statuses, never the content.
 */
import { randomBytes } from "node:crypto";
import type { ModelTarget, TextModel } from "../../catalog/types.ts";
import { ApiError } from "../../errors/index.ts";
import { spliceMembers, topLevelMembers } from "../../wire/index.ts";
import type { AttemptDeps } from "../attempts.ts";
import type { Candidate } from "../pool.ts";
import type { UpstreamServer } from "../upstream-server.ts";
import { KnownKeys } from "./known-keys.ts";
import type { Attestations } from "./port.ts";
import { requestServer, type ServerAnswer, type ServerRequest } from "./request-server.ts";

export type { Attestations, OwnSignature } from "./port.ts";

const ALGORITHM = "ecdsa";
const NONCE_BYTES = 32;

export function createAttestations(deps: AttemptDeps): Attestations {
	const keys = new KnownKeys();
	const client = new AttestationClient(deps);

	/** Returns one server's report and records its keys; null if the server gives no report for this nonce. */
	async function reportOf(candidate: Candidate, id: string, nonce: string, signal: AbortSignal): Promise<ServerAnswer | null> {
		const { server, model } = candidate;
		if (server.attestation === null) return null;
		// The built-in engine runs one model, under any name that the catalog has for it.
		const query = { model: server.name === OWN_TARGET.upstream ? id : model, nonce, signing_algo: ALGORITHM };
		const answer = await client.request(server, { path: server.attestation.report, query }, signal);
		if (answer?.body == null) return null;
		if (hasOtherNonce(answer.body, nonce)) {
			deps.log.warn({ upstream: server.name }, "an upstream's attestation answers another nonce");
			return null;
		}
		keys.learn(answer.body, server.name, model);
		return answer;
	}

	return {
		async report(model, nonce, signal) {
			for (const candidate of deps.pool.candidates(model.targets)) {
				const answer = await reportOf(candidate, model.id, nonce, signal);
				if (answer !== null)
					return withDefaults(answer, { verified: false, nonce, model: model.id, tee_provider: candidate.server.name });
			}
			throw new ApiError("TEE_ATTESTATION_FAILED");
		},

		async signature(model, id, upstream, signal) {
			let unknown = 0;
			const targets = model.targets.filter((target) => upstream === null || target.upstream === upstream);
			const candidates = deps.pool.candidates(targets);
			for (const { server, model: upstreamModel } of candidates) {
				if (server.attestation === null) continue;
				const path = server.attestation.signature;
				const query = { model: upstreamModel, signing_algo: ALGORITHM, ...(path.includes("{id}") ? {} : { request_id: id }) };
				const answer = await client.request(server, { path: path.replace("{id}", encodeURIComponent(id)), query }, signal);
				if (answer?.body != null) return answer.bytes;
				if (answer?.status === 404) unknown++;
			}
			if (unknown === candidates.length && unknown > 0) return null;
			throw new ApiError("TEE_SIGNATURE_FAILED");
		},

		async ownSignature(text, signal) {
			const [engine] = deps.pool.candidates([OWN_TARGET]);
			const path = engine?.server.attestation?.signature;
			const answer =
				engine === undefined || path === undefined ? null : await client.request(engine.server, { path, text }, signal);
			const { signature, signing_address: address } = answer?.body ?? {};
			if (typeof signature !== "string" || typeof address !== "string") throw new ApiError("TEE_SIGNATURE_FAILED");
			return { text, signature, signing_address: address, signing_algo: ALGORITHM };
		},

		async holderOf(model: TextModel, modelKey: string, signal: AbortSignal) {
			const { targets } = model;
			// A single server decides by itself whether the key is its own.
			const [only, ...others] = targets;
			if (only === undefined || others.length === 0) return only ?? null;
			const known = holderAmong(targets, modelKey);
			if (known !== null) return known;
			const nonce = randomBytes(NONCE_BYTES).toString("hex");
			await Promise.all(deps.pool.candidates(targets).map((candidate) => reportOf(candidate, model.id, nonce, signal)));
			return holderAmong(targets, modelKey);
		},
	};

	function holderAmong(targets: readonly ModelTarget[], key: string): ModelTarget | null {
		return targets.find(({ upstream, model }) => keys.isHeldBy(key, upstream, model)) ?? null;
	}
}

/** The target of the built-in engine. */
const OWN_TARGET: ModelTarget = { upstream: "embedded", model: "", weight: 1, order: 0 };

class AttestationClient {
	readonly #deps: AttemptDeps;

	constructor(deps: AttemptDeps) {
		this.#deps = deps;
	}

	/**
	 * Returns the answer; null if there is none. Throws errors of the built-in engine, and the signal's reason if the
	 * caller left.
	 */
	async request(server: UpstreamServer, question: ServerRequest, signal: AbortSignal): Promise<ServerAnswer | null> {
		const { log } = this.#deps;
		try {
			const answer = await requestServer(server, question, this.#deps, signal);
			if (answer.body === null && answer.status !== 404) log.warn({ upstream: server.name, status: answer.status }, NO_ANSWER);
			return answer;
		} catch (error) {
			if (signal.aborted || error instanceof ApiError) throw error;
			log.warn({ upstream: server.name }, NO_ANSWER);
			return null;
		}
	}
}

const NO_ANSWER = "an upstream gave no attestation or signature";

/** Returns true if the report names another nonce than the requested one. */
function hasOtherNonce(report: Readonly<Record<string, unknown>>, nonce: string): boolean {
	const nonces = [report.nonce, report.request_nonce].filter((one) => typeof one === "string");
	return nonces.some((one) => one.toLowerCase().replace(/^0x/, "") !== nonce.toLowerCase());
}

function withDefaults({ bytes, body }: ServerAnswer, defaults: Readonly<Record<string, unknown>>): Uint8Array {
	const missing = Object.entries(defaults).filter(([name]) => body?.[name] === undefined);
	if (missing.length === 0) return bytes;
	return spliceMembers(bytes, topLevelMembers(bytes), new Map(missing.map(([name, value]) => [name, JSON.stringify(value)])));
}
