import { type ByteRange, type JsonMember, objectMembers, skipWhitespace } from "./json-scan.ts";
import { type Insertion, Splice } from "./splice.ts";

/** A new value for a member: JSON text, bytes, or a splice to make it from; null removes the member. */
export type MemberEdit = Insertion | null;

/** Returns where the top-level value starts: after white space and a byte order mark. */
export function documentStart(bytes: Uint8Array): number {
	const marked = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
	return skipWhitespace(bytes, marked ? 3 : 0);
}

/**
 * Returns the members of a JSON object by byte ranges, in order, duplicates included; keys are decoded. Values are
 * skipped, not parsed: a string of 70 MB costs milliseconds.
 * @throws ApiError INVALID_REQUEST if it is no JSON object
 */
export function topLevelMembers(bytes: Uint8Array): JsonMember[] {
	return objectMembers(bytes, documentStart(bytes));
}

/** Returns the member of this key: the last of several. */
export function lastMember(members: readonly JsonMember[], key: string): JsonMember | undefined {
	for (let index = members.length - 1; index >= 0; index--) if (members[index]?.key === key) return members[index];
	return undefined;
}

/**
 * Returns the object with members replaced, removed or added; every other byte stays. If a key is repeated only its
 * last member stays, edited or not, since readers differ on which one counts. Returns `bytes` itself if nothing
 * changes.
 * @param range the object's position if it is not the whole of `bytes`
 */
export function spliceMembers(
	bytes: Uint8Array,
	members: readonly JsonMember[],
	edits: ReadonlyMap<string, MemberEdit>,
	range?: ByteRange,
): Uint8Array {
	return memberSplice(bytes, members, edits, range)?.bytes() ?? (range ? bytes.subarray(range.start, range.end) : bytes);
}

/** Returns the same as a splice, not yet joined; null if nothing changes. */
export function memberSplice(
	bytes: Uint8Array,
	members: readonly JsonMember[],
	edits: ReadonlyMap<string, MemberEdit>,
	range?: ByteRange,
): Splice | null {
	const open = range?.start ?? documentStart(bytes);
	const end = range?.end ?? bytes.length;
	const counts = lastOnes(members);
	if (counts === null && !touches(edits, members)) return null;

	const output = new Splice(bytes);
	let memberCount = 0;
	let previousEnd = members[0]?.start ?? open + 1;
	output.keep(open, previousEnd);
	for (const member of members) {
		const edit = edits.get(member.key);
		if (edit !== null && (counts === null || counts.has(member))) {
			// The separator before this member stays; the first remaining member has none.
			output.keep(memberCount++ === 0 ? member.start : previousEnd, member.valueStart);
			if (edit === undefined) output.keep(member.valueStart, member.valueEnd);
			else output.insert(edit);
		}
		previousEnd = member.valueEnd;
	}
	for (const [key, edit] of edits) {
		if (edit === null || lastMember(members, key) !== undefined) continue;
		output.insert(`${memberCount++ > 0 ? "," : ""}${JSON.stringify(key)}:`);
		output.insert(edit);
	}
	output.keep(previousEnd, end);
	return output;
}

function touches(edits: ReadonlyMap<string, MemberEdit>, members: readonly JsonMember[]): boolean {
	for (const [key, edit] of edits) if (edit !== null || lastMember(members, key) !== undefined) return true;
	return false;
}

/** Returns the last member of each key; null if no key is repeated. */
function lastOnes(members: readonly JsonMember[]): ReadonlySet<JsonMember> | null {
	if (!hasTwins(members)) return null;
	const last = new Map<string, JsonMember>();
	for (const member of members) last.set(member.key, member);
	return new Set(last.values());
}

/** Above this number, comparing all pairs costs more than a set. */
const FEW_MEMBERS = 12;

function hasTwins(members: readonly JsonMember[]): boolean {
	if (members.length > FEW_MEMBERS) return new Set(members.map((member) => member.key)).size < members.length;
	for (let index = 1; index < members.length; index++) {
		const key = members[index]?.key;
		for (let before = 0; before < index; before++) if (members[before]?.key === key) return true;
	}
	return false;
}
