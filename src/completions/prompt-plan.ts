import { topLevelMembers } from "../wire/index.ts";
import type { ChatInput } from "./chat-input.ts";
import type { CheckedChat } from "./check-chat.ts";
import type { MessageContents } from "./check-messages.ts";
import { type PromptSize, PromptText, promptOverheadTokens, promptSize } from "./prompt-size.ts";

/** The prompt as it will be sent, and what is known of its size in tokens. */
export interface PromptPlan {
	readonly input: ChatInput;
	readonly members: ReturnType<typeof topLevelMembers>;
	/** Bounds of the prompt's tokens, known without counting them. */
	readonly size: PromptSize;
	/** Tokens that the chat template adds to the counted text. */
	readonly overheadTokens: number;
	/** The text whose tokens are counted where the bounds do not decide. */
	text(): PromptText;
}

/**
 * Plans the prompt of a checked request.
 * @param input the request's own, or the one with files and pages inserted
 */
export function planPrompt(checked: CheckedChat, input: ChatInput, contents: MessageContents): PromptPlan {
	const { sealed } = checked;
	const members = topLevelMembers(input.raw);
	const systemText = checked.systemTexts.join("\n");
	return {
		input,
		members,
		size:
			sealed === null
				? promptSize(input, members, contents, Buffer.byteLength(systemText))
				: promptSize(input, members, sealed.sized(contents), sealed.addedBytes),
		overheadTokens: promptOverheadTokens(input.body, contents) + (sealed?.tokens ?? 0),
		text: () => new PromptText(sealed?.readable ?? input.body, systemText, input.long),
	};
}
