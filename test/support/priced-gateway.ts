import { expect } from "bun:test";
import { pricedModel } from "./chat-bodies.ts";
import { type RunningGateway, startGateway, upstreamEntry } from "./running-gateway.ts";
import { type ScriptedUpstream, startScriptedUpstream } from "./scripted-upstream.ts";

/** A gateway whose one priced model is a scripted upstream's. */
export interface PricedGateway {
	readonly upstream: ScriptedUpstream;
	readonly gate: RunningGateway;
	/** Ends both, once the books are proven. */
	stop(): Promise<void>;
}

export async function startPricedGateway(): Promise<PricedGateway> {
	const upstream = startScriptedUpstream();
	const gate = await startGateway({
		config: { upstreams: { scripted: upstreamEntry(upstream.url) }, models: { entries: { priced: pricedModel(["scripted"]) } } },
	});
	return {
		upstream,
		gate,
		async stop() {
			expect((await gate.audit()).ok).toBe(true);
			await gate.stop();
			await upstream.stop();
		},
	};
}
