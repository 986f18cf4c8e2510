import type { AssetStore } from "../../assets/index.ts";
import type { Config } from "../../config/index.ts";
import { FfmpegEncoder } from "../../engines/audio/index.ts";
import { EmbeddedChat, nativeChatEngine } from "../../engines/chat/index.ts";
import { DocumentPool } from "../../engines/documents/index.ts";
import { EmbeddedEmbeddings, nativeEmbeddingEngine } from "../../engines/embeddings/index.ts";
import { EmbeddedImages } from "../../engines/images/index.ts";
import { EmbeddedSpeech, nativeSpeechEngine } from "../../engines/speech/index.ts";
import { TokenCounter } from "../../engines/tokens/index.ts";
import type { GatewayDeps } from "../../gateway/index.ts";
import type { Log } from "../../telemetry/log.ts";

/** The engines of this machine. No process starts before its first use. */
export class Engines {
	readonly #chat: EmbeddedChat;
	readonly #speech: EmbeddedSpeech | null;
	readonly #encoder: FfmpegEncoder;
	readonly #counter: TokenCounter;
	readonly #embeddings: EmbeddedEmbeddings | null;
	readonly #documents: DocumentPool;
	readonly #images: EmbeddedImages;

	constructor({ chat, speech, embeddings, documents, images }: Config, assets: AssetStore, log: Log) {
		this.#chat = new EmbeddedChat({ config: chat.embedded, assets, log });
		const canSpeak = speech.embedded.enabled && nativeSpeechEngine().ok;
		this.#speech = canSpeak ? new EmbeddedSpeech({ config: speech.embedded, assets, log }) : null;
		this.#encoder = new FfmpegEncoder({ assets, log });
		this.#counter = new TokenCounter({ log });
		const canEmbed = embeddings.embedded.enabled && nativeEmbeddingEngine().ok;
		this.#embeddings = canEmbed ? new EmbeddedEmbeddings({ config: embeddings.embedded, assets, log }) : null;
		this.#documents = new DocumentPool({
			log,
			processes: documents.processes,
			limitMs: documents.fileMs,
			maxMemoryMb: documents.maxMemoryMb,
		});
		this.#images = new EmbeddedImages({
			assets,
			log,
			processes: images.processes,
			maxWaiting: images.queue,
			limitMs: images.pictureMs,
			maxMemoryMb: images.maxMemoryMb,
		});
	}

	/** Returns the engines as the gateway's dependencies. */
	get gatewayDeps(): Pick<
		GatewayDeps,
		"embedded" | "embeddedAvailable" | "audio" | "countTokens" | "embeddings" | "images" | "documents"
	> {
		return {
			embedded: this.#chat,
			embeddedAvailable: nativeChatEngine().ok,
			audio: { speech: this.#speech, encoder: this.#encoder },
			countTokens: (text, tenant) => this.#counter.countTokens(text, tenant),
			embeddings: this.#embeddings,
			images: this.#images,
			documents: this.#documents,
		};
	}

	/** Stops the processes of all engines. */
	async stop(): Promise<void> {
		await Promise.all([
			this.#chat.stop(),
			this.#speech?.stop(),
			this.#embeddings?.stop(),
			this.#encoder.stop(),
			this.#counter.stop(),
			this.#documents.stop(),
			this.#images.stop(),
		]);
	}
}
