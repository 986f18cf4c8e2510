import { isRecord } from "../../schema/is-record.ts";

/**
 * Decides to which tool call a fragment of a stream belongs, where its index is not enough: some servers give every
 * call the same index, no id or a blank one.
 */
export class CallIdentity {
	/** The upstream's id; null: none. */
	id: string | null = null;
	name = "";

	/** Records the id and name of a fragment: the first of each count. */
	learn(id: unknown, name: unknown): void {
		this.id ??= nonBlankId(id);
		if (this.name === "" && typeof name === "string") this.name = name;
	}

	/**
	 * Returns true if a fragment with this id and name belongs to another call. A name repeated without an id belongs
	 * to another call if it differs, or if the arguments so far are complete.
	 * @param isWhole returns true if the arguments so far are a complete object
	 */
	isOther(id: unknown, name: unknown, isWhole: () => boolean): boolean {
		const fragmentId = nonBlankId(id);
		if (fragmentId !== null && this.id !== null) return fragmentId !== this.id;
		if (typeof name !== "string" || name === "" || this.name === "") return false;
		return name !== this.name || isWhole();
	}
}

/** Returns the arguments of a call, or a piece of them, as text: some servers send an object. */
export function argumentsText(written: unknown): string {
	return typeof written === "string" ? written : isRecord(written) ? JSON.stringify(written) : "";
}

/** Returns the id; null for a blank one. */
function nonBlankId(id: unknown): string | null {
	return typeof id === "string" && id.trim() !== "" ? id : null;
}

/** Longer arguments are complete when the answer ends. */
const MAX_PARSED_CHARS = 262_144;

/** Returns true for the text of a complete JSON object. */
export function isWholeObject(text: string): boolean {
	if (text.length > MAX_PARSED_CHARS || !text.trimEnd().endsWith("}")) return false;
	try {
		JSON.parse(text);
		return true;
	} catch {
		return false;
	}
}
