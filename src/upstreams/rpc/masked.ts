/** Nodes quote the address that they were asked at in their errors, and keys of node providers stand in it. */
import type { RpcConfig } from "../../config/schema.ts";
import { SecretMask } from "../secret-mask.ts";
import { credentialsIn, headerSecrets, hostsOf, querySecrets } from "../secrets-in.ts";
import type { RpcAnswer, RpcOutcome, RpcStream } from "./port.ts";

/** Shorter parts of a path are names of versions and networks. */
const LEAST_PATH_KEY = 16;

/** The secrets of all chain upstreams: keys in addresses, and values of headers. */
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

/** The answer with the errors in it masked. Results are the chain's own and stay as they are. */
export async function maskedAnswer(
	answer: RpcAnswer<RpcOutcome | RpcStream>,
	mask: SecretMask,
): Promise<RpcAnswer<RpcOutcome | RpcStream>> {
	const { outcome } = answer;
	if (outcome.kind === "error") return { ...answer, outcome: await maskedOutcome(outcome, mask) };
	if (outcome.kind !== "error-stream") return answer;
	return { ...answer, outcome: { ...outcome, value: outcome.value.pipeThrough(mask.errorPieces()) } };
}

export async function maskedBatch(
	answer: RpcAnswer<readonly RpcOutcome[]>,
	mask: SecretMask,
): Promise<RpcAnswer<readonly RpcOutcome[]>> {
	if (!answer.outcome.some(({ kind }) => kind === "error")) return answer;
	return { ...answer, outcome: await Promise.all(answer.outcome.map((outcome) => maskedOutcome(outcome, mask))) };
}

async function maskedOutcome(outcome: RpcOutcome, mask: SecretMask): Promise<RpcOutcome> {
	return outcome.kind === "error" ? { ...outcome, value: await mask.errorBytes(outcome.value) } : outcome;
}
