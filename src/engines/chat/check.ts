import type { EngineCheck } from "../engine-check.ts";
import type { EmbeddedChat } from "./embedded-chat.ts";

/** The chat engine for `turnpike doctor`: starts it where its weights are there, and has it write one token. */
export async function checkChatEngine(engine: EmbeddedChat): Promise<EngineCheck> {
	const name = "chat engine";
	const state = await engine.state();
	if (state.state === "offline") return { name, ok: false, text: state.text };
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
		if (!response.ok) return { name, ok: false, text: `answers HTTP ${response.status}` };
		const rssMb = Math.round(((await engine.rssBytes()) ?? 0) / 1e6);
		return { name, ok: true, text: `answers after ${Math.round(performance.now() - startedAt)} ms, ${rssMb} MB of memory` };
	} catch (fault) {
		return { name, ok: false, text: fault instanceof Error ? fault.message : String(fault) };
	}
}
