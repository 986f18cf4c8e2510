import { ApiError } from "../../errors/index.ts";
import { UpstreamFailure } from "../failures.ts";
import type { ImageForward } from "./port.ts";

/** The pictures of an edit that one upstream accepts. */
export interface PictureLimits {
	readonly most: number;
	readonly mask: boolean;
}

/**
 * Refuses pictures that an upstream would silently ignore. Only this upstream is skipped, since another one of the
 * model may accept them. If none does, the caller gets the 400.
 * @throws UpstreamFailure
 */
export function checkPictures({ pictures }: Pick<ImageForward, "pictures">, { most, mask }: PictureLimits): void {
	const count = pictures.filter(({ role }) => role === "picture").length;
	if (count > most) {
		const limit = most === 0 ? "takes no pictures" : `takes ${most} ${most === 1 ? "picture" : "pictures"}, not ${count}`;
		throw pictureFailure(`This model's upstream ${limit}`);
	}
	if (!mask && count < pictures.length)
		throw pictureFailure("This model's upstream takes no mask: say in the prompt what is to change");
}

function pictureFailure(message: string): UpstreamFailure {
	return new UpstreamFailure("given", new ApiError("INVALID_REQUEST", { message }), "more pictures than it takes");
}
