import { isRecord } from "../../schema/is-record.ts";

/**
 * Which call of a tool a fragment of a stream belongs to, where its index alone does not tell: some servers give every
 * call the same index, no id or a blank one.
 */
export class CallIdentity {
	/** As its upstream gave it; null: none. */
	id: string | null = null;
	name = "";

	/** Notes what a fragment says: the first id and the first name count. */
	learn(id: unknown, name: unknown): void {
		this.id ??= givenId(id);
		if (this.name === "" && typeof name === "string") this.name = name;
	}

	/**
	 * True where a fragment with this id and name belongs to another call than this one. A name that comes again
	 * without an id is that of another call where it differs, or where the arguments so far are whole.
	 * @param isWhole true where the arguments so far are a whole object
	 */
	isOther(id: unknown, name: unknown, isWhole: () => boolean): boolean {
		const given = givenId(id);
		if (given !== null && this.id !== null) return given !== this.id;
		if (typeof name !== "string" || name === "" || this.name === "") return false;
		return name !== this.name || isWhole();
	}
}

/** The arguments of a call, or a piece of them, as text: some servers give an object. */
export function argumentsText(written: unknown): string {
	return typeof written === "string" ? written : isRecord(written) ? JSON.stringify(written) : "";
}

/** A blank id is none. */
function givenId(id: unknown): string | null {
	return typeof id === "string" && id.trim() !== "" ? id : null;
}

/** Longer arguments are whole where the answer ends. */
const MAX_PARSED_CHARS = 262_144;

/** True for the text of a JSON object that has ended. */
export function isWholeObject(text: string): boolean {
	if (text.length > MAX_PARSED_CHARS || !text.trimEnd().endsWith("}")) return false;
	try {
		JSON.parse(text);
		return true;
	} catch {
		return false;
	}
}
