/** The body of OpenAI's Responses API as the chat request that says the same, and its tools as functions and back. */
export { chatRequest, LOGPROBS } from "./chat-request.ts";
export { type ClientTool, ClientTools, functionName } from "./client-tools.ts";
export { HOSTED_CALLS } from "./hosted-calls.ts";
export { type ResponsesBody, ResponsesBodySchema, ToolSchema } from "./schema.ts";
