import { markUnsupported } from "../errors/index.ts";
import { invalidField } from "../schema/index.ts";
import type { Call } from "../server/call.ts";
import type { ChatDeps } from "./chat-deps.ts";
import type { ChatInput } from "./chat-input.ts";
import { checkCapabilities, checkMessages } from "./check-messages.ts";
import { firstMessageWithImages } from "./image-messages.ts";
import { PromptText, promptOverheadTokens } from "./prompt-size.ts";

/**
 * Returns the tokens of a request's prompt by our own count, which may differ from its upstream's. Checks the request
 * as a chat is checked, and throws the same.
 */
export async function countPrompt(
	{ body, long }: ChatInput,
	{ admittedAtMs, tenant }: Pick<Call, "admittedAtMs" | "tenant">,
	deps: ChatDeps,
): Promise<number> {
	const { model } = deps.catalog().resolve(body.model, "text", admittedAtMs);
	const messageContents = markUnsupported(model.id, () => {
		const contents = checkMessages(body, model, long, firstMessageWithImages(body.messages, model));
		checkCapabilities(body, model);
		const [file] = contents.files;
		if (file !== undefined)
			throw invalidField(
				["messages", file.message, "content", file.part],
				"files are not read to be counted; send the text itself",
				"unsupported",
			);
		return contents;
	});
	const added = body.service_parameters?.include_service_system_prompt === false ? "" : deps.config().chat.systemPrompt;
	const tokens = await new PromptText(body, added, long).tokens((text) => deps.countTokens(text, tenant));
	return tokens + promptOverheadTokens(body, messageContents);
}
