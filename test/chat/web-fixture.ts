/** A gateway whose conversations search scripted providers and read a local site: what the tests of the web share. */

import { pricedModel } from "../support/chat-bodies.ts";
import { type LocalSite, startLocalSite } from "../support/local-site.ts";
import { type RunningGateway, startGateway, upstreamEntry } from "../support/running-gateway.ts";
import { type ScriptedSearch, startScriptedSearch } from "../support/scripted-search.ts";
import { type ReceivedRequest, type ScriptedUpstream, startScriptedUpstream } from "../support/scripted-upstream.ts";

export interface WebFixture {
	readonly gate: RunningGateway;
	readonly upstream: ScriptedUpstream;
	readonly search: ScriptedSearch;
	readonly site: LocalSite;
	/** What the upstream was told last: the content of the latest message of the user. */
	lastUserText(): string;
	sent(): ReceivedRequest;
	/** What has been charged since the last call of this, in nano-USD; each request is over then. */
	charged(): Promise<number>;
	stop(): Promise<void>;
}

/** In nano-USD: one search, one page. */
export const FEE = 10_000_000;
/** Of an answer of the scripted upstream: 9 tokens in, 4 out. */
export const ANSWER = 9 * 1_000 + 4 * 4_000;

export async function startWebFixture(models: Readonly<Record<string, object>> = {}): Promise<WebFixture> {
	const upstream = startScriptedUpstream();
	const search = startScriptedSearch();
	const site = startLocalSite();
	const gate = await startGateway({
		creditUsd: "50",
		fetchPublic: site.fetch,
		config: {
			limits: { failedRequests: 0 },
			documents: { processes: 1 },
			web: { search: search.section(["brave"]) },
			upstreams: { scripted: upstreamEntry(upstream.url) },
			models: { entries: { priced: pricedModel(["scripted"], { contextTokens: 200_000 }), ...models } },
		},
	});
	const sent = () => {
		const last = upstream.requests.at(-1);
		if (last === undefined) throw new Error("nothing reached the upstream");
		return last;
	};
	let before = await gate.balance();
	return {
		gate,
		upstream,
		search,
		site,
		sent,
		lastUserText() {
			const messages = sent().body.messages as { role: string; content: string | { text?: string }[] }[];
			const content = messages.findLast(({ role }) => role === "user")?.content ?? "";
			return typeof content === "string" ? content : content.map(({ text }) => text ?? "").join("\n|\n");
		},
		async charged() {
			const now = await gate.balance();
			const spent = before - now;
			before = now;
			return spent;
		},
		async stop() {
			await gate.stop();
			await Promise.all([upstream.stop(), search.stop(), site.stop()]);
		},
	};
}

/** A file part with these bytes. */
export function filePart(bytes: string | Uint8Array, filename?: string, type = "application/octet-stream"): object {
	const data = Buffer.from(bytes).toString("base64");
	return { type: "file", file: { file_data: `data:${type};base64,${data}`, ...(filename === undefined ? {} : { filename }) } };
}

export const user = (content: unknown) => [{ role: "user", content }];
