/** The embedded model, running, as the tests beside this file use it. */
import { join } from "node:path";
import type OpenAI from "openai";
import { AssetStore, loadManifest } from "../../../assets/index.ts";
import { silentLog } from "../../../telemetry/log.ts";
import { EMBEDDED_CHAT_ASSET, EmbeddedChat, type Endpoint } from "../embedded-chat.ts";

const CHECKOUT = join(import.meta.dir, "../../../..");
const CONFIG = { enabled: true, threads: 1, contextTokens: 1024, parallel: 2, queue: 6, maxMemoryMb: 2048, idleStopMs: 600_000 };

export interface Refusal {
	readonly code: string;
	readonly error: { readonly message: string; readonly code: string };
}

export class TestEngine {
	readonly engine: EmbeddedChat;
	endpoint: Endpoint = { url: "", key: "" };
	readonly #assets: AssetStore;

	constructor() {
		const manifest = loadManifest(join(CHECKOUT, "catalog/assets.json"));
		// Kept between runs.
		this.#assets = new AssetStore({ dir: join(CHECKOUT, ".cache/assets"), manifest, log: silentLog });
		this.engine = new EmbeddedChat({ config: CONFIG, assets: this.#assets, log: silentLog });
	}

	async start(): Promise<void> {
		await this.#assets.ensure(EMBEDDED_CHAT_ASSET);
		this.endpoint = await this.engine.endpoint();
	}

	post(body: unknown, init: RequestInit = {}): Promise<Response> {
		return fetch(`${this.endpoint.url}/chat/completions`, {
			method: "POST",
			headers: { authorization: `Bearer ${this.endpoint.key}`, "content-type": "application/json" },
			body: JSON.stringify(body),
			...init,
		});
	}
}

export const ask = (content: string) => [{ role: "user" as const, content }];
export const answerOf = async (response: Promise<Response>) => (await (await response).json()) as OpenAI.ChatCompletion;
export const refusalOf = async (response: Response) => (await response.json()) as Refusal;
export const textOf = (answer: OpenAI.ChatCompletion): string => answer.choices[0]?.message.content ?? "";
