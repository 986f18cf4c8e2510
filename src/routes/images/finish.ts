import type { FinishOptions, Picture } from "../../engines/images/port.ts";
import { ApiError } from "../../errors/index.ts";
import type { Requester } from "../../fairness/index.ts";
import type { ImageDeps } from "./deps.ts";
import { engineOf } from "./safe-picture.ts";

/**
 * Returns a server's picture in the caller's size and format.
 * @throws ApiError INFERENCE_FAILED if it is no picture, which is not the caller's fault
 */
export async function finishPicture(
	bytes: Uint8Array | undefined,
	options: FinishOptions,
	deps: ImageDeps,
	requester: Requester,
): Promise<Picture> {
	try {
		if (bytes === undefined) throw new Error("the upstream made no picture");
		return await engineOf(deps).finish(bytes, options, requester);
	} catch (error) {
		if (error instanceof ApiError || requester.signal.aborted) throw error;
		throw new ApiError("INFERENCE_FAILED", { cause: error });
	}
}
