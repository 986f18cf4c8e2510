/** Nodes quote the address of a request in their errors, and addresses of node providers contain keys. */
import type { RpcConfig } from "../../config/schema.ts";
import type { PieceSecrets } from "../piece-secrets.ts";
import { SecretMask } from "../secret-mask.ts";
import { credentialsIn, headerSecrets, hostsOf, querySecrets } from "../secrets-in.ts";
import type { RpcAnswer, RpcOutcome, RpcStream } from "./port.ts";

/** Shorter parts of a path are names of versions and networks, and are not masked. */
const LEAST_PATH_KEY = 16;

/** Returns a mask of the secrets of all chain upstreams: keys in addresses, and values of headers. */
export function rpcMask({ networks }: RpcConfig): SecretMask {
	const upstreams = Object.values(networks).flatMap((network) => network.upstreams);
	const secrets = upstreams.flatMap(({ url, headers }) => [
		...credentialsIn(url),
		...querySecrets(url),
		...pathKeys(url),
		...headerSecrets(headers),
	]);
	return new SecretMask(secrets, [], hostsOf(upstreams.map(({ url }) => url)));
}

function pathKeys(address: string): string[] {
	if (!URL.canParse(address)) return [];
	return new URL(address).pathname.split("/").filter(({ length }) => length >= LEAST_PATH_KEY);
}

/**
 * Returns the answer without our secrets. Other private facts are masked in errors only, since results belong to the
 * chain.
 */
export async function maskAnswer(
	answer: RpcAnswer<RpcOutcome | RpcStream>,
	mask: SecretMask,
): Promise<RpcAnswer<RpcOutcome | RpcStream>> {
	const { outcome } = answer;
	switch (outcome.kind) {
		case "error-stream":
			return { ...answer, outcome: { ...outcome, value: outcome.value.pipeThrough(mask.errorPieces()) } };
		case "result-stream": {
			const secrets = mask.answerPieces();
			return secrets === null ? answer : { ...answer, outcome: { ...outcome, value: withoutSecrets(outcome.value, secrets) } };
		}
		default: {
			const masked = await maskedOutcome(outcome, mask);
			return masked === outcome ? answer : { ...answer, outcome: masked };
		}
	}
}

export async function maskBatch(
	answer: RpcAnswer<readonly RpcOutcome[]>,
	mask: SecretMask,
): Promise<RpcAnswer<readonly RpcOutcome[]>> {
	return { ...answer, outcome: await Promise.all(answer.outcome.map((outcome) => maskedOutcome(outcome, mask))) };
}

async function maskedOutcome(outcome: RpcOutcome, mask: SecretMask): Promise<RpcOutcome> {
	if (outcome.kind === "missing") return outcome;
	const isError = outcome.kind === "error";
	const value = isError ? await mask.errorBytes(outcome.value) : await mask.answerBytes(outcome.value);
	return value === outcome.value ? outcome : { ...outcome, value };
}

/** Masks a stream. Reads no further than its reader, as the stream itself does. */
function withoutSecrets(value: ReadableStream<Uint8Array>, secrets: PieceSecrets): ReadableStream<Uint8Array> {
	const reader = value.getReader();
	return new ReadableStream<Uint8Array>(
		{
			async pull(controller) {
				for (;;) {
					const { done, value: piece } = await reader.read();
					const masked = done ? secrets.end() : secrets.take(piece);
					if (masked.length > 0) controller.enqueue(masked);
					if (done) controller.close();
					if (done || masked.length > 0) return;
				}
			},
			cancel: (reason) => reader.cancel(reason),
		},
		{ highWaterMark: 0 },
	);
}
