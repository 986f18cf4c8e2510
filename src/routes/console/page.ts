/** Pages of lists: where the next one begins. The operator may look into it; what it names is checked. */
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

/** A place between two entries: when the last one was made, and its id. */
export interface Place {
	readonly atMs: number;
	readonly id: string;
}

const PLACE = /^(\d{1,15}) ([A-Za-z0-9_:.-]{1,200})$/;

/** The query's limit and the place where it begins. Throws 400. */
export function pageOf({ limit = DEFAULT_LIMIT, cursor }: PageQuery): { readonly limit: number; readonly after: Place | null } {
	if (cursor === undefined) return { limit, after: null };
	const [, atMs, id] = PLACE.exec(Buffer.from(cursor, "base64url").toString("utf8")) ?? [];
	if (atMs === undefined || id === undefined)
		throw invalidField(["cursor"], "is not a cursor of this list; begin again without one");
	return { limit, after: { atMs: Number(atMs), id } };
}

/** A place whose id is a number. Throws 400. */
export function numberOf(place: Place): number {
	if (!/^\d{1,15}$/.test(place.id)) throw invalidField(["cursor"], "is not a cursor of this list; begin again without one");
	return Number(place.id);
}

/** A page of entries as they are told; `placeOf` says where one stands. */
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

/** A JSON answer of a shape of types.ts. */
export function answer<T>(value: T, status = 200, headers?: Readonly<Record<string, string>>): Answer {
	return json(value, status, headers);
}
