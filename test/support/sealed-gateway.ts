/** A gateway between clients of sealed conversations and two servers that attest. */

import { type AttestingUpstream, startAttestingUpstream } from "./attesting-upstream.ts";
import type { ErrorBody } from "./chat-bodies.ts";
import { pricedModel } from "./chat-bodies.ts";
import { type GatewayOptions, type RunningGateway, startGateway, upstreamEntry } from "./running-gateway.ts";
import { type Message, SealedClient } from "./sealed-client.ts";

const CAPABLE = { capabilities: { supportsE2EE: true } };

export interface SealedGateway {
	readonly one: AttestingUpstream;
	readonly two: AttestingUpstream;
	/** What `gate` was started with. */
	readonly options: GatewayOptions;
	readonly gate: RunningGateway;
	/** Of the model `e2ee-one`. */
	readonly client: SealedClient;
	clientOf(model: string): Promise<SealedClient>;
	/** Both servers do as they should again. */
	reset(): void;
	/** Ends all. Returns what must be so at the end: holds that are open, findings of the audit. */
	stop(): Promise<{ readonly holdsOpen: number; readonly findings: readonly unknown[] }>;
}

export async function startSealedGateway(): Promise<SealedGateway> {
	const [one, two] = [startAttestingUpstream(), startAttestingUpstream()];
	const health = { failures: 1_000, probeEveryMs: 60_000 };
	const attestation = {
		report: "attestation/report",
		signature: "signature/{id}",
		sealed: true,
		clientKeyHeader: "x-client-pub-key",
		modelKeyHeader: "x-model-pub-key",
		algorithmHeader: "x-signing-algo",
	};
	const options: GatewayOptions = {
		config: {
			chat: { systemPrompt: "You speak for the service." },
			upstreams: {
				one: upstreamEntry(one.url, { attestation, health }),
				two: upstreamEntry(two.url, { attestation, health }),
				open: upstreamEntry(two.url, { attestation: { ...attestation, sealed: false }, health }),
				plain: upstreamEntry(two.url, { health }),
				provided: upstreamEntry(two.url, { provider: "groq", key: "k", attestation, health, discover: false }),
			},
			limits: { failedRequests: 0 },
			models: {
				entries: {
					"e2ee-one": pricedModel(["one"], CAPABLE),
					"e2ee-two": pricedModel(["one", "two"], CAPABLE),
					"e2ee-repaired": pricedModel(["one"], { ...CAPABLE, responseFormat: "repair", thinkBlocks: "inline" }),
					"tee-only": pricedModel(["open"], { capabilities: { supportsTeeAttestation: true } }),
					"tee-claims": pricedModel(["open"], CAPABLE),
					"half-claims": pricedModel(["one", "plain"], CAPABLE),
					"provided-claims": pricedModel(["provided"], CAPABLE),
					claims: pricedModel(["plain"], CAPABLE),
				},
			},
		},
	};
	const gate = await startGateway(options);
	const clientOf = (model: string) => SealedClient.of(`${gate.url}/api/v1`, gate.key, model);
	return {
		one,
		two,
		options,
		gate,
		client: await clientOf("e2ee-one"),
		clientOf,
		reset() {
			one.behave({});
			two.behave({});
		},
		async stop() {
			const { holdsOpen } = gate.gateway.budgets;
			const { findings } = await gate.audit();
			await gate.stop();
			await Promise.all([one.stop(), two.stop()]);
			return { holdsOpen, findings };
		},
	};
}

/** One message of a user's. */
export const user = (content: unknown): Message[] => [{ role: "user", content }];

/** Status, field and text of a refusal in OpenAI's form. */
export async function refusal(response: Response): Promise<[status: number, param: string, message: string]> {
	const { error } = (await response.json()) as ErrorBody;
	return [response.status, error.param ?? "", error.message];
}
