import Type, { type TObject, type TProperties } from "typebox";

/** An object with these members and no others. */
export const closed = <T extends TProperties>(properties: T, description?: string): TObject<T> =>
	Type.Object(properties, { additionalProperties: false, ...(description ? { description } : {}) }) as TObject<T>;
