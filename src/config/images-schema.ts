import Type from "typebox";
import { ms, section } from "./schema-types.ts";

/** Images: how this machine processes them, and the checks of images that it sends. */
export const ImagesSchema = section({
	processes: Type.Integer({ minimum: 1, maximum: 64, default: 2, description: "Pictures that are worked on at once" }),
	queue: Type.Integer({ minimum: 0, maximum: 10_000, default: 128, description: "Pictures that may wait; past it 429" }),
	pictureMs: ms(60_000, "One step of the work on a picture, from its turn on"),
	maxMemoryMb: Type.Integer({ minimum: 256, default: 1024, description: "Above it the work on a picture is ended" }),
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
