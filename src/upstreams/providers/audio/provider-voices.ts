/**
 * Creates and deletes voices at providers that store voices.
 * Sources: ElevenLabs' API reference (create IVC voice, delete voice); LMNT's (create voice, delete voice); fal's page
 * of fal-ai/minimax/voice-clone, where a voice expires after 7 days without use.
 */
import type { ProviderName } from "../../../config/providers.ts";
import { readWhole } from "../../chat/whole-answer.ts";
import { errorBody } from "../../error-text.ts";
import { brokenAnswer, failureOfAnswer } from "../../failures.ts";
import type { Fetch, FetchInit } from "../../fetch.ts";
import { initFor } from "../../upstream-server.ts";
import type { ProviderUpstream } from "../provider-upstream.ts";

export interface VoiceSampleFile {
	/** Our handle, under which the operator finds the voice at the provider. */
	readonly handle: string;
	readonly bytes: Uint8Array;
	readonly type: string;
}

interface VoiceRequest {
	readonly method: "POST" | "DELETE";
	/** The path below the provider's address. */
	readonly path: string;
	readonly body?: FormData | object;
}

interface VoiceRegister {
	/** Returns the headers with the key. */
	auth(key: string): Readonly<Record<string, string>>;
	create(sample: VoiceSampleFile): VoiceRequest;
	/** The member of the answer that contains the voice's name. */
	readonly member: string;
	/** Absent if voices expire by themselves. */
	remove?(name: string): VoiceRequest;
}

const REGISTERS: Readonly<Partial<Record<ProviderName, VoiceRegister>>> = {
	elevenlabs: {
		auth: (key) => ({ "xi-api-key": key }),
		create: (sample) => ({ method: "POST", path: "/v1/voices/add", body: formOf(sample, {}) }),
		member: "voice_id",
		remove: (name) => ({ method: "DELETE", path: `/v1/voices/${encodeURIComponent(name)}` }),
	},
	lmnt: {
		auth: (key) => ({ "x-api-key": key }),
		create: (sample) => ({ method: "POST", path: "/v1/ai/voice", body: formOf(sample, { enhance: "false" }) }),
		member: "id",
		remove: (name) => ({ method: "DELETE", path: `/v1/ai/voice/${encodeURIComponent(name)}` }),
	},
	fal: {
		auth: (key) => ({ authorization: `Key ${key}` }),
		create: ({ bytes, type }) => ({
			method: "POST",
			path: "/fal-ai/minimax/voice-clone",
			body: { audio_url: `data:${type};base64,${Buffer.from(bytes).toString("base64")}` },
		}),
		member: "custom_voice_id",
	},
};

const MAX_ANSWER_BYTES = 1 << 20;
/** The name is in the URL of every call. */
const MAX_NAME = 256;

export function storesVoices(provider: ProviderName): boolean {
	return REGISTERS[provider] !== undefined;
}

/**
 * Creates a voice at a provider for which `storesVoices` is true. Returns the provider's name for it. Throws
 * UpstreamFailure and errors of the connection.
 */
export async function createProviderVoice(
	config: ProviderUpstream,
	sample: VoiceSampleFile,
	fetch: Fetch,
	signal: AbortSignal,
): Promise<string> {
	const register = registerOf(config);
	const answer = await ask(config, register, register.create(sample), fetch, signal);
	const name = answer[register.member];
	if (typeof name !== "string" || name === "" || name.length > MAX_NAME) throw brokenAnswer("the answer has no name of a voice");
	return name;
}

/** Deletes a voice; a missing one is no error. Throws UpstreamFailure and errors of the connection. */
export async function deleteProviderVoice(
	config: ProviderUpstream,
	name: string,
	fetch: Fetch,
	signal: AbortSignal,
): Promise<void> {
	const register = registerOf(config);
	if (register.remove === undefined) return;
	await ask(config, register, register.remove(name), fetch, signal, [404]);
}

function registerOf({ provider }: ProviderUpstream): VoiceRegister {
	const register = REGISTERS[provider];
	if (register === undefined) throw brokenAnswer(`${provider} keeps no voices`);
	return register;
}

async function ask(
	{ url, key = "", headers }: ProviderUpstream,
	{ auth }: VoiceRegister,
	{ method, path, body }: VoiceRequest,
	fetch: Fetch,
	signal: AbortSignal,
	accepted: readonly number[] = [],
): Promise<Readonly<Record<string, unknown>>> {
	const address = `${url.replace(/\/+$/, "")}${path}`;
	const json = body === undefined || body instanceof FormData ? {} : { "content-type": "application/json" };
	const init: FetchInit = {
		...initFor(address),
		method,
		// A reused connection that breaks would send the request twice.
		keepalive: false,
		headers: {
			accept: "application/json",
			"accept-encoding": "identity",
			"user-agent": "turnpike",
			...auth(key),
			...headers,
			...json,
		},
		...(body === undefined ? {} : { body: body instanceof FormData ? body : JSON.stringify(body) }),
		signal,
	};
	const response = await fetch(address, init);
	const answer = errorBody(await readWhole(response, MAX_ANSWER_BYTES), key || undefined);
	if (!response.ok && !accepted.includes(response.status))
		throw failureOfAnswer(response.status, answer, response.headers.get("retry-after"));
	return typeof answer === "object" && answer !== null ? (answer as Record<string, unknown>) : {};
}

function formOf({ handle, bytes, type }: VoiceSampleFile, fields: Readonly<Record<string, string>>): FormData {
	const form = new FormData();
	form.set("name", handle);
	for (const [name, value] of Object.entries(fields)) form.set(name, value);
	const ending = type.split("/")[1] ?? "wav";
	form.set("files", new Blob([bytes as Uint8Array<ArrayBuffer>], { type }), `sample.${ending}`);
	return form;
}
