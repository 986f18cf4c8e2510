import { ApiError } from "../../errors/index.ts";
import { TENANT_HEADER } from "../../fairness/index.ts";
import { inTurns, lastMember, utf8Text } from "../../wire/index.ts";
import type { AttemptCall, ChatAttemptDeps } from "../attempts.ts";
import { type ChatPost, cancelBody, postChat } from "../connect.ts";
import { UpstreamFailure } from "../failures.ts";
import type { Fetch } from "../fetch.ts";
import type { ProviderRequest } from "../providers/chat/send.ts";
import type { UpstreamServer } from "../upstream-server.ts";
import { DIALECT_TABLE, type Dialect } from "./dialects.ts";
import type { ChatForward, SealedForward } from "./port.ts";
import { shapeChatBody } from "./request-body.ts";

/** Returns a chat request as an attempt call: it is shaped for the dialect of each upstream. */
export function chatAttempt(
	call: ChatForward,
	{ fetch, log, fetchPublic }: Pick<ChatAttemptDeps, "fetch" | "log" | "fetchPublic">,
): AttemptCall {
	const { requestId, stream, sealed, tenant, isText = false } = call;
	return {
		requestId,
		tenant,
		targets: sealed === undefined ? call.model.targets : [sealed.holder],
		signal: call.signal,
		raw: call.long.isEmpty ? call.raw : call.long.original,
		stickyKey: () => stickyKey(call),
		onSent: (upstream) => call.onSent(upstream),
		async send({ model, server, target }, endpoint, signal) {
			if (isText && server.provider !== null) throw noBareTexts(call.model.id);
			const dialect = target.dialect === undefined ? server.dialect : DIALECT_TABLE[target.dialect];
			if (server.provider === null && dialect.plain.n === undefined) requireOneChoice(call);
			const shaped = shapeChatBody(call, model, isText ? textDialect(dialect) : dialect);
			const body = call.long.isEmpty ? shaped : await inTurns(call.long.whole(shaped));
			if (sealed !== undefined) {
				const headers = { ...sealedHeaders(sealed, server), ...tenantHeaders(call, server) };
				return postSealed(fetch, { endpoint, body, requestId, stream, headers }, signal);
			}
			if (server.provider !== null) {
				const { name: upstream, provider: config } = server;
				const request = {
					upstream,
					config,
					requestId,
					model: call.model,
					upstreamModel: model,
					body,
					stream,
					fetch,
					log,
					fetchPublic,
				};
				return askProvider(request, signal);
			}
			return postChat(fetch, { endpoint, body, requestId, stream, isText, headers: tenantHeaders(call, server) }, signal);
		},
	};
}

/** Returns the dialect for bare texts: `max_completion_tokens` is newer than this protocol. */
function textDialect(dialect: Dialect): Dialect {
	return dialect.maxTokens === "max_tokens" ? dialect : { ...dialect, maxTokens: "max_tokens" };
}

/** Returns the failure of a provider that was sent a bare text. Another upstream of the model may accept it. */
function noBareTexts(model: string): UpstreamFailure {
	const message = `model: ${model} takes conversations alone; send this prompt to /chat/completions`;
	return new UpstreamFailure("offline", new ApiError("INVALID_REQUEST", { message, param: "model" }), "no completions", 404);
}

/**
 * Refuses several choices at a server without `n`, which would silently return one; another upstream may return
 * several.
 */
function requireOneChoice({ members, raw, model }: ChatForward): void {
	const member = lastMember(members, "n");
	if (member === undefined || !(Number(utf8Text(raw, member.valueStart, member.valueEnd)) > 1)) return;
	const message = `n: the server of ${model.id} gives one choice a request; send n of 1, or ask as often as you need`;
	throw new UpstreamFailure("unable", new ApiError("INVALID_REQUEST", { message, param: "n" }), "one choice alone", 400);
}

/**
 * Sends a sealed request. A server of many machines answers 421 (RFC 9110, 15.5.20) when none of them has the key any
 * more.
 */
async function postSealed(fetch: Fetch, post: ChatPost, signal: AbortSignal): Promise<Response> {
	const response = await postChat(fetch, post, signal);
	if (response.status !== 421) return response;
	cancelBody(response.body);
	const message = "The key of this conversation is held by no server of the model any more; ask for its attestation anew";
	throw new ApiError("INVALID_REQUEST", { message });
}

const NO_HEADERS: Readonly<Record<string, string>> = {};

/**
 * Returns the tenant's header for our own engine, which shares its lanes between tenants. No other server learns the
 * tenant.
 */
function tenantHeaders({ tenant }: ChatForward, { ejectable }: UpstreamServer): Readonly<Record<string, string>> {
	return ejectable ? NO_HEADERS : { [TENANT_HEADER]: tenant };
}

/** Returns the headers in which this server expects the keys. */
function sealedHeaders({ clientKey, modelKey }: SealedForward, { attestation }: UpstreamServer): Record<string, string> {
	if (attestation === null)
		throw new ApiError("MODEL_OFFLINE", { message: "This server takes no sealed conversations any more" });
	const { clientKeyHeader, modelKeyHeader, algorithmHeader } = attestation;
	return { [clientKeyHeader]: clientKey, [modelKeyHeader]: modelKey, [algorithmHeader]: "ecdsa" };
}

/** Reads the caller's routing hint (docs/chat.md): the same key finds the same upstream. */
function stickyKey({ model, members, raw }: ChatForward): string | undefined {
	const member = model.targets.length > 1 ? lastMember(members, "prompt_cache_key") : undefined;
	if (!member || member.valueEnd - member.valueStart > 1024) return undefined;
	return utf8Text(raw, member.valueStart, member.valueEnd);
}

/** Sends to a provider. Providers and their packages are loaded with the first request to one. */
async function askProvider(request: ProviderRequest, signal: AbortSignal): Promise<Response> {
	const { sendToProvider } = await import("../providers/chat/send.ts");
	return sendToProvider(request, signal);
}
