import Type, { type Static } from "typebox";
import { Compile } from "typebox/compile";
import type { Operation } from "./edit/operation.ts";
import { type Enlargement, type FinishOptions, IMAGE_MEDIA_TYPES, type OutputFormat } from "./port.ts";

/** The message to a child, without the `id` of the job. */
export type ImageWork =
	| { readonly do: "normalise"; readonly bytes: Uint8Array; readonly minPixels: number }
	| { readonly do: "finish"; readonly bytes: Uint8Array; readonly options: FinishOptions }
	| { readonly do: "blur"; readonly bytes: Uint8Array; readonly output: OutputFormat }
	| { readonly do: "upscale"; readonly bytes: Uint8Array; readonly to: Enlargement; readonly output: OutputFormat }
	| {
			readonly do: "edit";
			readonly images: readonly Uint8Array[];
			readonly operations: readonly Operation[];
			readonly output: OutputFormat;
	  }
	/** The views that the adult-content model scores. */
	| { readonly do: "views"; readonly bytes: Uint8Array };

const Bytes = Type.Refine(Type.Unsafe<Uint8Array>(Type.Unknown()), (value) => value instanceof Uint8Array);

const Done = Type.Object({
	id: Type.Integer(),
	picture: Type.Optional(
		Type.Object({
			bytes: Bytes,
			mediaType: Type.Enum(Object.values(IMAGE_MEDIA_TYPES)),
			width: Type.Integer({ minimum: 1 }),
			height: Type.Integer({ minimum: 1 }),
			hasAlpha: Type.Boolean(),
		}),
	),
	views: Type.Optional(Bytes),
	fault: Type.Optional(
		Type.Object({
			kind: Type.Enum([
				"unsupported",
				"corrupt",
				"too-small",
				"too-many-pixels",
				"too-many-bytes",
				"too-costly",
				"not-understood",
				"not-possible",
			]),
			message: Type.String(),
			imageIndex: Type.Optional(Type.Integer()),
		}),
	),
});

/** The child's answer: an image, views, or the reason for a failure. */
export type ImageDone = Static<typeof Done>;

const check = Compile(Done);

/**
 * Parses an answer without a copy, because an image may be large.
 * @throws {Error}
 */
export function parseImageDone(done: unknown): ImageDone {
	if (!check.Check(done)) throw new Error("the image process gave something else than an answer");
	return done;
}
