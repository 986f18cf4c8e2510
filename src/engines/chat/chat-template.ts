/**
 * The ChatML template that SmolLM2 was trained on. Words of a caller are never read as control tokens: the
 * frame and the contents are tokenised apart.
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

/** From the model's own template; used only where the caller gives no system message. */
const DEFAULT_SYSTEM_PROMPT = "You are a helpful AI assistant named SmolLM, trained by Hugging Face";

const frame = (text: string): PromptPiece => ({ text, control: true });
const words = (text: string): PromptPiece => ({ text, control: false });

/** The prompt of a conversation, up to where the assistant's answer begins. */
export function renderChat(messages: readonly ChatMessage[]): PromptPiece[] {
	const withSystem: readonly ChatMessage[] =
		messages[0]?.role === "system" ? messages : [{ role: "system", content: DEFAULT_SYSTEM_PROMPT }, ...messages];
	return [
		...withSystem.flatMap(({ role, content }) => [frame(`<|im_start|>${role}\n`), words(content), frame("<|im_end|>\n")]),
		frame("<|im_start|>assistant\n"),
	];
}

/** True where a GGUF file's template is of this kind. */
export function isChatMl(template: unknown): boolean {
	return typeof template === "string" && template.includes("<|im_start|>") && template.includes("<|im_end|>");
}
