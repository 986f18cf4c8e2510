/** Voices that providers store: created from a sample once, named in every call, and deleted in the end. */

import type { AttemptDeps } from "../attempts.ts";
import { UpstreamFailure, upstreamOffline } from "../failures.ts";
import type { Fetch } from "../fetch.ts";
import type { ProviderUpstream } from "../providers/provider-upstream.ts";
import type { UpstreamServer } from "../upstream-server.ts";
import type { UpstreamVoices, VoiceSample } from "./port.ts";

const DELETE_MS = 30_000;

interface StoredVoiceDeps {
	readonly fetch: Fetch;
	readonly voices: UpstreamVoices;
}

/** Returns the provider's name for the voice of a sample, which is uploaded if the provider does not store it yet. */
export async function storedVoice(
	sample: VoiceSample,
	{ name: upstream }: UpstreamServer,
	config: ProviderUpstream,
	{ fetch, voices }: StoredVoiceDeps,
	signal: AbortSignal,
): Promise<string> {
	const { storesVoices, createProviderVoice } = await import("../providers/audio/provider-voices.ts");
	if (!storesVoices(config.provider)) throw upstreamOffline(`${config.provider} keeps no voices`);
	const { handle, type } = sample;
	const work = {
		create: async (limit: AbortSignal) =>
			createProviderVoice(config, { handle, type, bytes: await sample.bytes() }, fetch, limit),
		delete: (name: string) => deleteVoice(config, name, fetch),
	};
	return voices.nameOf(handle, upstream, work, signal);
}

/** Forgets a name that the provider does not know any more; the next call creates the voice again. */
export async function forgetWhereRefused(
	error: unknown,
	{ handle, server, name }: { readonly handle: string; readonly server: UpstreamServer; readonly name: string },
	config: ProviderUpstream,
	{ fetch, voices }: StoredVoiceDeps,
): Promise<void> {
	if (!(error instanceof UpstreamFailure)) return;
	const isRefusal = error.kind === "request" && /\bvoice/i.test(error.answer.message);
	if (error.status !== 404 && !isRefusal) return;
	const isMine = await voices.forget(handle, server.name, name).catch(() => false);
	// The provider may still store the voice, so it is deleted.
	if (isMine) await deleteVoice(config, name, fetch).catch(() => {});
}

/** Deletes a voice at an upstream. Does nothing if the upstream is not configured or stores no voices. */
export async function deleteUpstreamVoice(upstream: string, name: string, { pool, fetch, log }: AttemptDeps): Promise<void> {
	const { storesVoices } = await import("../providers/audio/provider-voices.ts");
	const [candidate] = pool.candidates([{ upstream, model: "", weight: 1, order: 0 }]);
	const config = candidate?.server.provider ?? null;
	if (config === null || !storesVoices(config.provider))
		log.warn({ upstream, voice: name }, "a voice stays at an upstream that is not configured any more: delete it there");
	else await deleteVoice(config, name, fetch);
}

async function deleteVoice(config: ProviderUpstream, name: string, fetch: Fetch): Promise<void> {
	const { deleteProviderVoice: ask } = await import("../providers/audio/provider-voices.ts");
	await ask(config, name, fetch, AbortSignal.timeout(DELETE_MS));
}
