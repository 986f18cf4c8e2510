import { lastMember, utf8Text } from "../wire/index.ts";
import { type Fetch, postChat } from "./connect.ts";
import type { ChatForward } from "./port.ts";
import { shapeChatBody } from "./request-body.ts";
import type { TryCall } from "./tries.ts";

/** A chat request as its tries see it: shaped anew in the words of each upstream. */
export function chatTry(call: ChatForward, fetch: Fetch): TryCall {
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
