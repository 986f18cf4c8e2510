import type { Input } from "../server/endpoint.ts";
import { type LongStrings, topLevelMembers } from "../wire/index.ts";
import type { ChatBody } from "./schema.ts";

/** A chat request as the route has it: in OpenAI's chat form, parsed and as bytes. */
export type ChatInput = Pick<Input<ChatBody, unknown>, "body" | "raw" | "long">;

/**
 * A chat request that was made of another form's body, as parsed and as bytes.
 * @param long the strings of that body which its parsed copy, and so this request, has not whole
 */
export function chatInput(body: ChatBody, long: LongStrings): ChatInput {
	return { body, raw: Buffer.from(JSON.stringify(body)), long };
}

/** Throws 400 for a body that nests more deeply than it could be written again. */
export function refuseDeepNesting(raw: Uint8Array): void {
	topLevelMembers(raw);
}
