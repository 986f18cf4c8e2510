/**
 * Encodes where the next page of a list begins. It is not secret to the operator; its content is checked when it comes
 * back.
 */
import Type, { type Static } from "typebox";
import { invalidField } from "../../schema/index.ts";
import { type Answer, json } from "../../server/endpoint.ts";
import type { Page } from "./types.ts";

export const PAGE_FIELDS = {
	limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200 })),
	cursor: Type.Optional(Type.String({ maxLength: 400 })),
};
const DEFAULT_LIMIT = 50;

type PageQuery = Static<Type.TObject<typeof PAGE_FIELDS>>;

/** A position between two entries: the last entry's time and id. */
export interface Place {
	readonly atMs: number;
	readonly id: string;
}

const PLACE = /^(\d{1,15}) ([A-Za-z0-9_:.-]{1,200})$/;

/**
 * Returns the query's limit and its position.
 * @throws ApiError 400
 */
export function pageOf({ limit = DEFAULT_LIMIT, cursor }: PageQuery): { readonly limit: number; readonly after: Place | null } {
	if (cursor === undefined) return { limit, after: null };
	const [, atMs, id] = PLACE.exec(Buffer.from(cursor, "base64url").toString("utf8")) ?? [];
	if (atMs === undefined || id === undefined)
		throw invalidField(["cursor"], "is not a cursor of this list; begin again without one");
	return { limit, after: { atMs: Number(atMs), id } };
}

/**
 * Returns the id of a position as a number.
 * @throws ApiError 400
 */
export function numberOf(place: Place): number {
	if (!/^\d{1,15}$/.test(place.id)) throw invalidField(["cursor"], "is not a cursor of this list; begin again without one");
	return Number(place.id);
}

/**
 * Returns a page of formatted entries.
 * @param placeOf returns the position of an entry
 */
export function pageAnswer<Entry, T>(
	{ entries, more }: { readonly entries: readonly Entry[]; readonly more: boolean },
	view: (entry: Entry) => T,
	placeOf: (entry: Entry) => Place,
): Answer {
	const last = entries.at(-1);
	const cursor = ({ atMs, id }: Place) => Buffer.from(`${atMs} ${id}`, "utf8").toString("base64url");
	const nextCursor = more && last !== undefined ? cursor(placeOf(last)) : null;
	return answer<Page<T>>({ object: "list", data: entries.map(view), nextCursor });
}

/** Returns a JSON answer of a type from types.ts. */
export function answer<T>(value: T, status = 200, headers?: Readonly<Record<string, string>>): Answer {
	return json(value, status, headers);
}
