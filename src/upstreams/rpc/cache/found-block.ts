import { arrayElements, lastMember, objectMembers } from "../../../wire/index.ts";
import { blockNumberAt } from "./block-number.ts";

const OPEN_BRACKET = 0x5b;

/**
 * The block of what was found by its hash: this member of the result, or of its first element where it is a list. Null
 * where there is none, as of a transaction that no block has yet.
 */
export function foundBlock(result: Uint8Array, member: string): number | null {
	try {
		const at = result[0] === OPEN_BRACKET ? arrayElements(result, 0, 1)[0]?.start : 0;
		if (at === undefined) return null;
		const found = lastMember(objectMembers(result, at), member);
		return found === undefined ? null : blockNumberAt(result, { start: found.valueStart, end: found.valueEnd });
	} catch {
		// What is nested past all bounds, or no object.
		return null;
	}
}
