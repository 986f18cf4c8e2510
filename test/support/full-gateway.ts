/** A gateway on which every feature is on: scripted upstreams, the engines that need no download, a chain. */
import type { FfmpegEncoder } from "../../src/engines/audio/index.ts";
import { startAttestingUpstream } from "./attesting-upstream.ts";
import { readyEncoder } from "./audio-engines.ts";
import { startImageGateway } from "./image-gateway.ts";
import { type LocalSite, startLocalSite } from "./local-site.ts";
import { rpcUpstream } from "./rpc-gateway.ts";
import { type RunningGateway, upstreamEntry } from "./running-gateway.ts";
import { startScriptedAudioUpstream } from "./scripted-audio-upstream.ts";
import { startScriptedEmbeddings } from "./scripted-embeddings.ts";
import { startScriptedSearch } from "./scripted-search.ts";
import { startScriptedUpstream } from "./scripted-upstream.ts";

export interface FullGateway {
	readonly gate: RunningGateway;
	readonly site: LocalSite;
	readonly encoder: FfmpegEncoder;
	stop(): Promise<void>;
}

const ATTESTATION = {
	report: "attestation/report",
	signature: "signature/{id}",
	sealed: false,
	clientKeyHeader: "x-client-pub-key",
	modelKeyHeader: "x-model-pub-key",
	algorithmHeader: "x-signing-algo",
};

/** Sections of the configuration that differ. */
export interface FullGatewayOptions {
	readonly x402?: object;
	readonly limits?: object;
}

export async function startFullGateway(
	chainUrl: string,
	{ x402 = {}, limits = {} }: FullGatewayOptions = {},
): Promise<FullGateway> {
	const chat = startScriptedUpstream();
	const embeddings = startScriptedEmbeddings();
	const attesting = startAttestingUpstream();
	const audio = startScriptedAudioUpstream();
	const search = startScriptedSearch();
	const site = startLocalSite();
	const encoder = await readyEncoder();
	const target = (upstream: string, model: string) => ({ upstreams: [{ upstream, model, weight: 1, order: 0 }] });
	const price = { input: 1, output: 2 };
	const upstreams = {
		chat: upstreamEntry(chat.url),
		audio: upstreamEntry(audio.url),
		embeddings: upstreamEntry(embeddings.url),
		attesting: upstreamEntry(attesting.url, { attestation: ATTESTATION }),
	};
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
					"attested-model": {
						type: "text",
						price,
						capabilities: { supportsTeeAttestation: true },
						...target("attesting", "attested"),
					},
					"text-vectors": { type: "embedding", embedding: { perMillionTokens: 1 }, ...target("embeddings", "vectors") },
					"tts-orpheus": target("audio", "orpheus"),
					"tts-kokoro": target("audio", "kokoro"),
					"tts-chatterbox-hd": {
						upstreams: [{ upstream: "audio", model: "chatterbox", weight: 1, order: 0, cloning: "voice_file" }],
					},
					"nvidia/parakeet-tdt-0.6b-v3": target("audio", "parakeet"),
					"openai/whisper-large-v3": target("audio", "whisper-large-v3"),
				},
			},
			rpc: { networks: { "ethereum-mainnet": network, "base-mainnet": network } },
			web: { robots: false, search: search.section(["searxng"]) },
			x402,
			...(Object.keys(limits).length === 0 ? {} : { limits }),
		},
	});
	return {
		gate,
		site,
		encoder,
		async stop() {
			await stop();
			await Promise.all([chat, audio, embeddings, attesting, search, site].map((server) => server.stop()));
		},
	};
}
