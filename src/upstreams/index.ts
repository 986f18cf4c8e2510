/**
 * How we call other servers: which upstream takes a call, in which dialect, within which time, and what its failure
 * means for the caller. Promises: until the first data event another upstream takes over where there is one; a caller
 * that leaves stops the upstream at once; every body is read or cancelled; the bytes of an answer are unchanged. Never
 * bills, and never passes on a caller's credential or an upstream's account troubles.
 */

export { systemTimerClock, type TimerClock } from "../telemetry/timer-clock.ts";
export type { AttemptDeps, ChatTimeouts } from "./attempts.ts";
export { type ChatUpstreamsOptions, createChatUpstreams, type RunningChatUpstreams } from "./chat/chat-upstreams.ts";
export { DIALECT_TABLE, type Dialect, type DialectName } from "./chat/dialects.ts";
export type { ChatEvent } from "./chat/event-frame.ts";
export { chunksOfCompletion } from "./chat/other-form.ts";
export type { ChatForward, ChatStream, ChatUpstreams, EventBatch, EventFrame, JsonMember, WholeAnswer } from "./chat/port.ts";
export { shapeChatBody } from "./chat/request-body.ts";
export { argumentsText, CallIdentity, isWholeObject } from "./chat/tool-call-identity.ts";
export { tokenUsageOf, usageOf } from "./chat/usage.ts";
export type { Fetch, FetchInit } from "./fetch.ts";
export { finishReasonOf, isOpenAiReason } from "./finish-reason.ts";
export type { UpstreamStatus } from "./node.ts";
