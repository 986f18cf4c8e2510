import type { Input } from "../server/endpoint.ts";
import { type LongStrings, topLevelMembers } from "../wire/index.ts";
import type { ChatBody } from "./schema.ts";

/** A chat request in OpenAI's chat form, parsed and as bytes. */
export type ChatInput = Pick<Input<ChatBody, unknown>, "body" | "raw" | "long">;

/**
 * Returns a chat request, made from another form's body, as parsed and as bytes.
 * @param long the strings that are cut in the parsed copy of that body, and so in this request
 */
export function chatInput(body: ChatBody, long: LongStrings): ChatInput {
	return { body, raw: Buffer.from(JSON.stringify(body)), long };
}

/** Refuses with 400 a body that nests too deeply to be written again. */
export function refuseDeepNesting(raw: Uint8Array): void {
	topLevelMembers(raw);
}
