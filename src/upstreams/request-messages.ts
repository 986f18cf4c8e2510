import {
	arrayElements,
	type ByteRange,
	concatBytes,
	type JsonMember,
	type MemberEdit,
	objectMembers,
	spliceMembers,
} from "../wire/index.ts";
import type { JsonSlice } from "./body-view.ts";
import type { Dialect } from "./dialects.ts";

const decoder = new TextDecoder();
const ESCAPE = "\\u";

/**
 * The messages with only the bytes changed that this dialect must have changed: the role `developer`, keys of
 * messages and of content parts that its server refuses or names otherwise. undefined where nothing changes.
 */
export function rewriteMessages(messages: JsonSlice, dialect: Dialect): Uint8Array | undefined {
	const renamedRole = dialect.developerRole === "system";
	const marks = [
		...(renamedRole ? ['"developer"'] : []),
		...Object.keys(dialect.messageKeys).map((key) => `"${key}"`),
		...dialect.partKeys.map((key) => `"${key}"`),
	];
	// A native search first: nearly all requests have none of these. A key may hide behind escapes.
	const text = Buffer.from(messages.bytes.buffer, messages.bytes.byteOffset + messages.start, messages.end - messages.start);
	if (!marks.some((mark) => text.includes(mark)) && !text.includes(ESCAPE)) return undefined;
	return rewriteElements(messages, (element) => rewriteMessage(messages.bytes, element, dialect));
}

function rewriteMessage(bytes: Uint8Array, range: ByteRange, dialect: Dialect): Uint8Array | undefined {
	if (bytes[range.start] !== 0x7b) return undefined;
	const members = objectMembers(bytes, range.start);
	const edits = new Map<string, MemberEdit>();
	for (const member of members) {
		if (member.key === "role" && dialect.developerRole === "system" && stringAt(bytes, member) === "developer") {
			edits.set("role", '"system"');
		} else if (member.key === "content" && bytes[member.valueStart] === 0x5b && dialect.partKeys.length > 0) {
			const content = { bytes, start: member.valueStart, end: member.valueEnd };
			const rewritten = rewriteElements(content, (part) => rewritePart(bytes, part, dialect));
			if (rewritten) edits.set("content", rewritten);
		} else if (Object.hasOwn(dialect.messageKeys, member.key)) {
			const name = dialect.messageKeys[member.key];
			edits.set(member.key, null);
			if (typeof name === "string" && !members.some((other) => other.key === name))
				edits.set(name, bytes.subarray(member.valueStart, member.valueEnd));
		}
	}
	return edits.size > 0 ? spliceMembers(bytes, members, edits, range) : undefined;
}

function rewritePart(bytes: Uint8Array, range: ByteRange, dialect: Dialect): Uint8Array | undefined {
	if (bytes[range.start] !== 0x7b) return undefined;
	const members = objectMembers(bytes, range.start);
	if (!members.some((member) => dialect.partKeys.includes(member.key))) return undefined;
	return spliceMembers(bytes, members, new Map(dialect.partKeys.map((key) => [key, null])), range);
}

/** The array with some elements replaced; what stands between them stays. */
function rewriteElements(array: JsonSlice, rewrite: (element: ByteRange) => Uint8Array | undefined): Uint8Array | undefined {
	const pieces: Uint8Array[] = [];
	let copiedTo = array.start;
	for (const element of arrayElements(array.bytes, array.start)) {
		const rewritten = rewrite(element);
		if (!rewritten) continue;
		pieces.push(array.bytes.subarray(copiedTo, element.start), rewritten);
		copiedTo = element.end;
	}
	if (pieces.length === 0) return undefined;
	pieces.push(array.bytes.subarray(copiedTo, array.end));
	return concatBytes(pieces);
}

/** A short string value; undefined for what is longer than any role. */
function stringAt(bytes: Uint8Array, member: JsonMember): unknown {
	if (member.valueEnd - member.valueStart > 128) return undefined;
	return JSON.parse(decoder.decode(bytes.subarray(member.valueStart, member.valueEnd)));
}
