/** Converts the body of OpenAI's Responses API to a chat request, and its tools to functions and back. */
export { chatRequest, LOGPROBS } from "./chat-request.ts";
export { type ClientTool, ClientTools, functionName } from "./client-tools.ts";
export { HOSTED_CALLS } from "./hosted-calls.ts";
export { type ResponsesBody, ResponsesBodySchema, ToolSchema } from "./schema.ts";
