/** A gateway on which everything that the documentation shows works: scripted upstreams, the engines that need no download, a chain. */
import type { FfmpegEncoder } from "../../src/engines/audio/index.ts";
import { readyEncoder } from "../support/audio-engines.ts";
import { startImageGateway } from "../support/image-gateway.ts";
import { type LocalSite, startLocalSite } from "../support/local-site.ts";
import { rpcUpstream } from "../support/rpc-gateway.ts";
import { type RunningGateway, upstreamEntry } from "../support/running-gateway.ts";
import { startScriptedAudioUpstream } from "../support/scripted-audio-upstream.ts";
import { startScriptedSearch } from "../support/scripted-search.ts";
import { startScriptedUpstream } from "../support/scripted-upstream.ts";

export interface ExamplesBed {
	readonly gate: RunningGateway;
	readonly site: LocalSite;
	readonly encoder: FfmpegEncoder;
	stop(): Promise<void>;
}

export async function startExamplesBed(chainUrl: string, x402: object = {}): Promise<ExamplesBed> {
	const chat = startScriptedUpstream();
	const audio = startScriptedAudioUpstream();
	const search = startScriptedSearch();
	const site = startLocalSite();
	const encoder = await readyEncoder();
	const target = (upstream: string, model: string) => ({ upstreams: [{ upstream, model, weight: 1, order: 0 }] });
	const price = { input: 1, output: 2 };
	const upstreams = { chat: upstreamEntry(chat.url), audio: upstreamEntry(audio.url) };
	const network = { enabled: true, upstreams: [rpcUpstream(chainUrl)] };
	const { gate, stop } = await startImageGateway({
		more: upstreams,
		fetchPublic: site.fetch,
		audio: { speech: null, encoder },
		config: {
			models: {
				entries: {
					"text-large": {
						type: "text",
						price,
						contextTokens: 32_000,
						maxCompletionTokens: 4_000,
						traits: ["default"],
						...target("chat", "large"),
					},
					"tts-orpheus": target("audio", "orpheus"),
					"openai/whisper-large-v3": target("audio", "whisper-large-v3"),
				},
			},
			rpc: { networks: { "ethereum-mainnet": network, "base-mainnet": network } },
			web: { robots: false, search: search.section(["searxng"]) },
			x402,
		},
	});
	return {
		gate,
		site,
		encoder,
		async stop() {
			await stop();
			await Promise.all([chat.stop(), audio.stop(), search.stop(), site.stop()]);
		},
	};
}
