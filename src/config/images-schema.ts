import Type from "typebox";
import { ms, section } from "./schema-types.ts";

/** Images: how this machine processes them, and the checks of images that it sends. */
export const ImagesSchema = section({
	processes: Type.Integer({ minimum: 1, maximum: 64, default: 2, description: "Pictures that are processed at the same time" }),
	queue: Type.Integer({ minimum: 0, maximum: 10_000, default: 128, description: "Pictures that may wait; more get 429" }),
	pictureMs: ms(60_000, "Time limit of one step of work on a picture, once it starts"),
	maxMemoryMb: Type.Integer({ minimum: 256, default: 1024, description: "Above this, the work on a picture is ended" }),
	safeMode: section({
		threshold: Type.Number({
			minimum: 0,
			maximum: 1,
			default: 0.7,
			description: "Pictures with a higher score for adult content are blurred",
		}),
		optional: Type.Boolean({
			default: true,
			description: "false: requests cannot turn safe mode off, and every picture is scored",
		}),
	}),
});
