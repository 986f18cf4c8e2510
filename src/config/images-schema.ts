import Type from "typebox";
import { section } from "./schema-parts.ts";

/** Pictures: what is looked for in those that go out. */
export const ImagesSchema = section({
	safeMode: section({
		threshold: Type.Number({
			minimum: 0,
			maximum: 1,
			default: 0.7,
			description: "A picture whose score as adult content is above it goes out blurred",
		}),
		optional: Type.Boolean({
			default: true,
			description: "false: safe_mode: false changes nothing, every picture is scored",
		}),
	}),
});
