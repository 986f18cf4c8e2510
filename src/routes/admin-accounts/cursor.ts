/** Encodes where the next page begins. It is not secret to the operator; its content is checked when it comes back. */
import type { AccountPlace } from "../../access/index.ts";
import { invalidField } from "../../schema/index.ts";

const PLACE = /^(\d{1,15}) ([A-Za-z0-9_:.-]{1,128})$/;
const NUMBER = /^\d{1,15}$/;

export function accountCursor({ createdAtMs, id }: AccountPlace): string {
	return encodeText(`${createdAtMs} ${id}`);
}

/** Throws 400. */
export function readAccountCursor(cursor: string): AccountPlace {
	const [, createdAtMs, id] = PLACE.exec(decodeText(cursor)) ?? [];
	if (createdAtMs === undefined || id === undefined) throw noCursor();
	return { createdAtMs: Number(createdAtMs), id };
}

export function numberCursor(place: number): string {
	return encodeText(String(place));
}

/** Throws 400. */
export function readNumberCursor(cursor: string): number {
	const text = decodeText(cursor);
	if (!NUMBER.test(text)) throw noCursor();
	return Number(text);
}

function encodeText(text: string): string {
	return Buffer.from(text, "utf8").toString("base64url");
}

function decodeText(cursor: string): string {
	return Buffer.from(cursor, "base64url").toString("utf8");
}

function noCursor() {
	return invalidField(["cursor"], "is not a cursor of this list; begin again without one");
}
