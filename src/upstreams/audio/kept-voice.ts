/** Voices that providers keep: made of a sample once, named in every call, taken back in the end. */
import type { Fetch } from "../connect.ts";
import { offline, UpstreamFailure } from "../failures.ts";
import type { UpstreamNode } from "../node.ts";
import type { ProviderUpstream } from "../providers/provider-upstream.ts";
import type { PoolTools } from "../tries.ts";
import type { UpstreamVoices, VoiceSample } from "./port.ts";

const TAKE_BACK_MS = 30_000;

interface KeptTools {
	readonly fetch: Fetch;
	readonly voices: UpstreamVoices;
}

/** The provider's name for the voice of a sample, which goes there where it was not yet. */
export async function keptVoice(
	sample: VoiceSample,
	{ name: upstream }: UpstreamNode,
	config: ProviderUpstream,
	{ fetch, voices }: KeptTools,
	signal: AbortSignal,
): Promise<string> {
	const { keepsVoices, makeVoice } = await import("../providers/audio/voice-registers.ts");
	if (!keepsVoices(config.provider)) throw offline(`${config.provider} keeps no voices`);
	const { handle, type } = sample;
	const work = {
		make: async (limit: AbortSignal) => makeVoice(config, { handle, type, bytes: await sample.bytes() }, fetch, limit),
		takeBack: (name: string) => takeBack(config, name, fetch),
	};
	return voices.nameOf(handle, upstream, work, signal);
}

/** A name that the provider does not know any more is made anew by the next call. */
export async function forgetWhereRefused(
	error: unknown,
	{ handle, node, name }: { readonly handle: string; readonly node: UpstreamNode; readonly name: string },
	config: ProviderUpstream,
	{ fetch, voices }: KeptTools,
): Promise<void> {
	if (!(error instanceof UpstreamFailure)) return;
	const isRefusal = error.kind === "request" && /\bvoice/i.test(error.answer.message);
	if (error.status !== 404 && !isRefusal) return;
	const isMine = await voices.forget(handle, node.name, name).catch(() => false);
	// It may be there all the same: then it must not be left behind.
	if (isMine) await takeBack(config, name, fetch).catch(() => {});
}

/** Takes a voice back from the upstream of that name. Nothing happens where there is none that keeps voices. */
export async function takeVoiceBack(upstream: string, name: string, { pool, fetch, log }: PoolTools): Promise<void> {
	const { keepsVoices } = await import("../providers/audio/voice-registers.ts");
	const [candidate] = pool.candidates([{ upstream, model: "", weight: 1, order: 0 }]);
	const config = candidate?.node.provider ?? null;
	if (config === null || !keepsVoices(config.provider))
		log.warn({ upstream, voice: name }, "a voice stays at an upstream that is not configured any more: delete it there");
	else await takeBack(config, name, fetch);
}

async function takeBack(config: ProviderUpstream, name: string, fetch: Fetch): Promise<void> {
	const { takeVoiceBack: ask } = await import("../providers/audio/voice-registers.ts");
	await ask(config, name, fetch, AbortSignal.timeout(TAKE_BACK_MS));
}
