/**
 * What all conversation routes share: a request in OpenAI's chat form is checked, priced, held, forwarded, posted and
 * settled here. Each route presents the answer itself (`AnswerForm`). Promises: one call, one charge; no answer ends
 * before its post is durable; a caller that leaves stops the upstream and pays for the work done. Never logs a prompt.
 */
export { admitChat } from "./admit.ts";
export type { AdmittedChat } from "./admitted-chat.ts";
export type { AnswerForm, PostedCharge, StreamForm } from "./answer-form.ts";
export { type AssistantOutputListener, Segment, type SegmentKind } from "./assistant-output.ts";
export { AssistantOutputReader } from "./assistant-output-reader.ts";
export type { ChatDeps } from "./chat-deps.ts";
export { type ChatInput, chatInput, refuseDeepNesting } from "./chat-input.ts";
export { Conversation, type TextPart, type Thought, textPart, type UserPart } from "./conversation.ts";
export { countPrompt } from "./count-prompt.ts";
export { ForwardedMembersSchema } from "./forwarded-members.ts";
export { costOf } from "./meter.ts";
export { PromptText } from "./prompt-size.ts";
export { admitRenamed, withRenamedFields } from "./renamed-fields.ts";
export { type ChatBody, ChatBodySchema } from "./schema.ts";
export { Receipts, type StoredReceipt } from "./sealed/receipts.ts";
export { openThought, sealThought } from "./sealed-thought.ts";
export { citedSources } from "./web/cited-sources.ts";
export type { WebSource } from "./web/web-sources.ts";
