import { type Finding, fault, notice, ok } from "../../telemetry/finding.ts";
import { EMBEDDED_CHAT_ASSET, type EmbeddedChat } from "./embedded-chat.ts";

const MEND = "npm install, then npx --no turnpike doctor once more; or chat: {embedded: {enabled: false}}";

/** Checks the chat engine for `turnpike doctor`: if its weights are present, it starts the engine and generates one token. */
export async function checkChatEngine(engine: EmbeddedChat): Promise<Finding> {
	const name = "chat engine";
	const state = await engine.state();
	// The weights are fetched at the first start, or at the first request.
	if (state.state === "offline") return notice(name, state.text, `npx --no turnpike models pull ${EMBEDDED_CHAT_ASSET}`);
	const startedAt = performance.now();
	try {
		const { url, key } = await engine.endpoint();
		const response = await fetch(`${url}/chat/completions`, {
			method: "POST",
			headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
			body: JSON.stringify({ messages: [{ role: "user", content: "Hi" }], max_tokens: 1 }),
			signal: AbortSignal.timeout(60_000),
		});
		await response.body?.cancel();
		if (!response.ok) return fault(name, `answers HTTP ${response.status}`, MEND);
		const rssMb = Math.round(((await engine.rssBytes()) ?? 0) / 1e6);
		return ok(name, `answers after ${Math.round(performance.now() - startedAt)} ms, ${rssMb} MB of memory`);
	} catch (error) {
		return fault(name, error instanceof Error ? error.message : String(error), MEND);
	}
}
