/**
 * Reads and writes wire formats: JSON by byte ranges, server-sent events, CSV. Work is linear and memory bounded for
 * any input, and only requested bytes change. Bytes that can be skipped are not parsed. This module knows nothing of
 * models, money or HTTP.
 */

export { type AudioContainer, audioContainer, CONTAINER_TYPES } from "./audio-container.ts";
export { provenByFrames, samplesOfWave } from "./audio-frames.ts";
export { decodeBase64Over, decodedLength } from "./base64-bytes.ts";
export { base64String } from "./base64-string.ts";
export { bytesAre, latin1Text, utf8Text } from "./byte-text.ts";
export { canonicalJson } from "./canonical-json.ts";
export { concatBytes, concatInSteps } from "./concat-bytes.ts";
export { type CsvCell, csvLine } from "./csv.ts";
export { decimalText } from "./decimal.ts";
export { foldedName } from "./folded-name.ts";
export { type FormBody, type FormField, formBody } from "./form-body.ts";
export { freeBytes } from "./free-bytes.ts";
export { headerText } from "./header-text.ts";
export { atOnce, inTurns, nextTurn } from "./in-turns.ts";
export { innerJson } from "./inner-json.ts";
export {
	BACKSLASH,
	CLOSE_BRACE,
	CLOSE_BRACKET,
	COLON,
	COMMA,
	OPEN_BRACE,
	OPEN_BRACKET,
	QUOTE,
} from "./json-bytes.ts";
export {
	ANSWER_BOUNDS,
	BODY_BOUNDS,
	CUT_NOTHING,
	type CutJson,
	cutJson,
	EVENT_BOUNDS,
	type JsonBounds,
	PICTURE_BOUNDS,
} from "./json-cut.ts";
export { parseInSteps, stringifyInSteps } from "./json-in-steps.ts";
export {
	documentStart,
	lastMember,
	type MemberEdit,
	memberSplice,
	spliceMembers,
	topLevelMembers,
} from "./json-members.ts";
export {
	arrayElements,
	type ByteRange,
	decodeString,
	endOfString,
	endOfValue,
	type JsonMember,
	MAX_JSON_DEPTH,
	objectMembers,
	objectMembersInSteps,
	skipWhitespace,
} from "./json-scan.ts";
export { JsonValueEnd, NotJson } from "./json-value-end.ts";
export { type AmbiguousMember, KnownMembers } from "./known-members.ts";
export { LongStrings } from "./long-strings.ts";
export { streamableMp4 } from "./mp4-streamable.ts";
export { type FormPart, formBoundary, MultipartError, parseForm, textOf } from "./multipart.ts";
export { type Insertion, Splice } from "./splice.ts";
export { SseEventTooLarge, SseNotUtf8, SseParser } from "./sse-parser.ts";
export { StrictJson } from "./strict-json.ts";
export { sliceBySlice } from "./text-slices.ts";
