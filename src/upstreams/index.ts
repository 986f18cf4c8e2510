/**
 * Calls other servers: chooses the upstream of a call, its dialect and time limits, and decides what its failure means
 * for the caller. Until the first data event another upstream takes over if there is one. A caller that leaves stops
 * the upstream at once. Every body is read or cancelled. The bytes of an answer stay unchanged. This module never
 * bills. It never forwards a caller's credential, and never reveals trouble with an upstream's account.
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
export type { UpstreamStatus } from "./upstream-server.ts";
