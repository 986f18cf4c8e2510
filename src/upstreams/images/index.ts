/**
 * Pictures from other servers. They share the pool, health and limits of chat. If one upstream fails, another takes
 * over. A caller that leaves stops the upstream at once. What happens to the pictures is decided elsewhere.
 */

import { type AttemptCall, type AttemptDeps, Attempts } from "../attempts.ts";
import type { PublicFetch } from "../public-fetch/port.ts";
import type { ImageAnswer, ImageForward, ImageUpstreams } from "./port.ts";
import { protocolOf } from "./protocol-of.ts";

export type * from "./port.ts";

/** Time limits in milliseconds (`timeouts` of the config). */
export interface ImageTimeouts {
	readonly imageMs: number;
}

/**
 * Creates the image upstreams. `timeouts` is read for each call, because a reload changes it. `fetchPublic` reads
 * pictures that providers store elsewhere.
 */
export function createImageUpstreams(
	deps: AttemptDeps,
	timeouts: () => ImageTimeouts,
	fetchPublic?: PublicFetch,
): ImageUpstreams {
	return { make: (call) => make(call, deps, timeouts().imageMs, fetchPublic) };
}

/** The response of an attempt whose protocol is already complete. */
const DONE = { status: 200 };

async function make(
	call: ImageForward,
	deps: AttemptDeps,
	limitMs: number,
	fetchPublic: PublicFetch | undefined,
): Promise<ImageAnswer> {
	let pictures: readonly Uint8Array[] = [];
	const attemptCall: AttemptCall = {
		requestId: call.requestId,
		targets: call.targets,
		tenant: call.tenant,
		signal: call.signal,
		raw: new TextEncoder().encode(call.prompt),
		stickyKey: () => undefined,
		onSent: (upstream) => call.onSent(upstream),
		async send({ server, target, model }, endpoint, signal) {
			const protocol = protocolOf(server, target);
			pictures = await protocol(call, { target, model, server, endpoint, fetch: deps.fetch, fetchPublic, signal });
			return new Response(null, DONE);
		},
	};
	const attempts = new Attempts(attemptCall, deps);
	const endMs = deps.clock.monotonicMs() + limitMs;
	return attempts.run(
		async (_, current) => {
			current.end("good");
			return { upstream: current.server.name, retries: attempts.retries, pictures };
		},
		(timeout) => timeout.limit(Number.POSITIVE_INFINITY, "picture", endMs),
	);
}
