import Type from "typebox";

/** Schema members that the views of accounts and keys share, and instants in the API's format. */
export const nullable = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
export const instant = () => Type.String({ format: "date-time" });
export const amount = (description?: string) =>
	Type.String({ pattern: "^\\d+\\.\\d{4,9}$", ...(description ? { description } : {}) });

export function isoTime(ms: number): string {
	return new Date(ms).toISOString();
}
