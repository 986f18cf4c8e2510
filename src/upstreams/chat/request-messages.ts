import {
	arrayElements,
	type ByteRange,
	type JsonMember,
	type MemberEdit,
	memberSplice,
	objectMembers,
	Splice,
	utf8Text,
} from "../../wire/index.ts";
import type { JsonSlice } from "../body-view.ts";
import type { Dialect } from "./dialects.ts";

const find = Buffer.prototype.indexOf;
const MARKS = new WeakMap<Dialect, readonly Uint8Array[]>();

/** Returns texts of which one occurs in any messages that the dialect must change. */
function marksOf(dialect: Dialect): readonly Uint8Array[] {
	const known = MARKS.get(dialect);
	if (known) return known;
	const words = [...Object.keys(dialect.messageKeys), ...dialect.partKeys];
	if (dialect.developerRole === "system") words.push("developer");
	// Escapes may spell a word too.
	const marks = [...words.map((word) => `"${word}"`), "\\u"].map((mark) => Buffer.from(mark));
	MARKS.set(dialect, marks);
	return marks;
}

/**
 * Returns the messages with only the changes that this dialect needs: the role `developer`, keys of messages and of
 * content parts that its server refuses or renames. undefined if nothing changes.
 */
export function rewriteMessages(messages: JsonSlice, dialect: Dialect): Splice | undefined {
	// A native search comes first, since nearly all requests have none of these.
	if (!marksOf(dialect).some((mark) => occursIn(mark, messages))) return undefined;
	return rewriteElements(messages, (element) => rewriteMessage(messages.bytes, element, dialect));
}

function occursIn(mark: Uint8Array, { bytes, start, end }: JsonSlice): boolean {
	const at = find.call(bytes, mark, start);
	return at >= 0 && at < end;
}

function rewriteMessage(bytes: Uint8Array, range: ByteRange, dialect: Dialect): Splice | null {
	if (bytes[range.start] !== 0x7b) return null;
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
	return edits.size > 0 ? memberSplice(bytes, members, edits, range) : null;
}

function rewritePart(bytes: Uint8Array, range: ByteRange, dialect: Dialect): Splice | null {
	if (bytes[range.start] !== 0x7b) return null;
	const members = objectMembers(bytes, range.start);
	if (!members.some((member) => dialect.partKeys.includes(member.key))) return null;
	return memberSplice(bytes, members, new Map(dialect.partKeys.map((key) => [key, null])), range);
}

/** Returns the array with some elements replaced; all other bytes stay. undefined if none is replaced. */
function rewriteElements(array: JsonSlice, rewrite: (element: ByteRange) => Splice | null): Splice | undefined {
	const output = new Splice(array.bytes);
	let copiedTo = array.start;
	for (const element of arrayElements(array.bytes, array.start)) {
		const rewritten = rewrite(element);
		if (!rewritten) continue;
		output.keep(copiedTo, element.start);
		output.insert(rewritten);
		copiedTo = element.end;
	}
	if (copiedTo === array.start) return undefined;
	output.keep(copiedTo, array.end);
	return output;
}

/** Returns a short string value; undefined for one longer than any role. */
function stringAt(bytes: Uint8Array, member: JsonMember): unknown {
	if (member.valueEnd - member.valueStart > 128) return undefined;
	return JSON.parse(utf8Text(bytes, member.valueStart, member.valueEnd));
}
