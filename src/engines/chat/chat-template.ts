/**
 * The ChatML template on which SmolLM2 was trained. A caller's text never becomes control tokens: frame and contents are
 * tokenised separately.
 */
export interface ChatMessage {
	readonly role: "system" | "user" | "assistant";
	readonly content: string;
}

/** A piece of the prompt; only pieces of the frame may become control tokens. */
export interface PromptPiece {
	readonly text: string;
	readonly control: boolean;
}

/** From the model's own template; used only if the caller has no system message. */
const DEFAULT_SYSTEM_PROMPT = "You are a helpful AI assistant named SmolLM, trained by Hugging Face";

const frame = (text: string): PromptPiece => ({ text, control: true });
const words = (text: string): PromptPiece => ({ text, control: false });

/** Returns the prompt of a conversation, up to the start of the assistant's answer. */
export function renderChat(messages: readonly ChatMessage[]): PromptPiece[] {
	const withSystem: readonly ChatMessage[] =
		messages[0]?.role === "system" ? messages : [{ role: "system", content: DEFAULT_SYSTEM_PROMPT }, ...messages];
	return [
		...withSystem.flatMap(({ role, content }) => [frame(`<|im_start|>${role}\n`), words(content), frame("<|im_end|>\n")]),
		frame("<|im_start|>assistant\n"),
	];
}

/** Returns true if a GGUF file's template is ChatML. */
export function isChatMl(template: unknown): boolean {
	return typeof template === "string" && template.includes("<|im_start|>") && template.includes("<|im_end|>");
}
