import { lastMember, utf8Text } from "../wire/index.ts";
import { postChat } from "./connect.ts";
import type { ChatForward } from "./port.ts";
import type { ProviderRequest } from "./providers/chat/send.ts";
import { shapeChatBody } from "./request-body.ts";
import type { TryCall, TryTools } from "./tries.ts";

/** A chat request as its tries see it: shaped anew in the words of each upstream. */
export function chatTry(
	call: ChatForward,
	{ fetch, log, fetchPublic }: Pick<TryTools, "fetch" | "log" | "fetchPublic">,
): TryCall {
	const { requestId, stream } = call;
	return {
		requestId,
		targets: call.model.targets,
		signal: call.signal,
		raw: call.raw,
		stickyKey: () => stickyKey(call),
		onSent: (upstream) => call.onSent(upstream),
		send({ model, node }, endpoint, signal) {
			const body = shapeChatBody(call, model, node.dialect);
			if (node.provider !== null) {
				const { name: upstream, provider: config } = node;
				const asked = {
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
				return askProvider(asked, signal);
			}
			return postChat(fetch, { endpoint, body, requestId, stream }, signal);
		},
	};
}

/** The caller's routing hint (docs/chat.md): the same key finds the same upstream. */
function stickyKey({ model, members, raw }: ChatForward): string | undefined {
	const member = model.targets.length > 1 ? lastMember(members, "prompt_cache_key") : undefined;
	if (!member || member.valueEnd - member.valueStart > 1024) return undefined;
	return utf8Text(raw, member.valueStart, member.valueEnd);
}

/** Providers and what they need are loaded with the first request to one. */
async function askProvider(request: ProviderRequest, signal: AbortSignal): Promise<Response> {
	const { sendToProvider } = await import("./providers/chat/send.ts");
	return sendToProvider(request, signal);
}
