import type { Behaviour, ScriptedUpstream } from "./scripted-upstream.ts";

/** A stream whose upstream answers only once the caller has been sent a ping: the answer, and its whole text. */
export async function oncePinged(
	upstream: ScriptedUpstream,
	behaviour: Behaviour,
	ask: () => Promise<Response>,
): Promise<{ readonly answer: Response; readonly text: string }> {
	const pinged = Promise.withResolvers<void>();
	upstream.next({ ...behaviour, after: pinged.promise });
	const answer = await ask();
	let text = "";
	for await (const piece of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
		text += piece;
		if (text.includes("ping")) pinged.resolve();
	}
	return { answer, text };
}
