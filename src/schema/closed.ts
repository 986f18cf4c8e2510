import Type, { type TObject, type TProperties } from "typebox";

/** Returns the schema of an object with these members and no others. */
export const closed = <T extends TProperties>(properties: T, description?: string): TObject<T> =>
	Type.Object(properties, { additionalProperties: false, ...(description ? { description } : {}) }) as TObject<T>;
